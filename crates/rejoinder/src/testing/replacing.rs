//! What a test puts in the place of the real thing.

use std::{
    any::{TypeId, type_name},
    sync::Arc,
};

use crate::graph::Resolver;

use super::Client;
use crate::{server::BuiltServer, transport::McpService};

impl Client {
    /// Uses the provided `service` in place of the one of its type, for a test without the real one.
    ///
    /// # Panics
    ///
    /// If nothing of that type was provided: the test would not test what it says.
    ///
    /// ```
    /// use rejoinder::{prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// struct Clock(fn() -> u64);
    ///
    /// #[tool]
    /// async fn now(clock: Dep<Clock>) -> u64 { (clock.0)() }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::Error> {
    /// let server = Server::new("clock", "1.0.0").provide(Clock(|| panic!("the real clock"))).tools(tools![now]);
    /// let client = Client::new(server).replace(Clock(|| 42));
    /// assert_eq!(client.call_tool("now", json!({})).await?.text(), "42");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[track_caller]
    pub fn replace<T: Send + Sync + 'static>(self, service: T) -> Self {
        self.replace_shared(Arc::new(service))
    }

    /// [`Client::replace`] by a service that the test holds too, to look at afterwards.
    ///
    /// # Panics
    ///
    /// If nothing of that type was provided.
    #[must_use]
    #[track_caller]
    pub fn replace_shared<T: ?Sized + Send + Sync + 'static>(mut self, service: Arc<T>) -> Self {
        let replaced = self.server.0.replace(service);
        let name = type_name::<T>();
        let Some(replaced) = replaced else {
            panic!("the server was provided with no `{name}`; a `dyn Trait` is replaced with `replace_shared`")
        };
        self.server = BuiltServer(replaced);
        self.service = McpService::new(Arc::clone(&self.server.0));
        self.anew()
    }

    /// Uses what `value` makes in place of a resolver, which is named as it is in `#[resolve(..)]`; for one of a
    /// [group](crate::group) see [`Client::replace_method`].
    ///
    /// The resolver does not run, asks nothing, and needs none of its own parameters.
    ///
    /// # Panics
    ///
    /// If nothing that the server offers uses it: the test would not test what it says.
    ///
    /// ```
    /// use rejoinder::{prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// #[resolver]
    /// fn weather(city: &str) -> Result<String, CallError> { Err(CallError::new(format!("{city} is not on the map"))) }
    ///
    /// #[tool]
    /// async fn dress(city: String, #[resolve(weather)] weather: &String) -> String { format!("{weather} in {city}") }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::Error> {
    /// let server = Server::new("wardrobe", "1.0.0").tools(tools![dress]);
    /// let client = Client::new(server).replace_resolver::<weather>(|| "rain".to_owned());
    /// let reply = client.call_tool("dress", json!({ "city": "Bergen" })).await?;
    /// assert_eq!(reply.text(), "rain in Bergen");
    /// assert!(reply.ran.concat().is_empty(), "it did not run");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[track_caller]
    pub fn replace_resolver<R: Resolver>(mut self, value: impl Fn() -> R::Output + Send + Sync + 'static) -> Self {
        let replaced = self.server.0.replace_resolver::<R>(value);
        let name = R::instance().shown();
        let Some(replaced) = replaced else { panic!("nothing of the server uses the resolver `{name}`") };
        self.server = BuiltServer(replaced);
        self.service = McpService::new(Arc::clone(&self.server.0));
        self.anew()
    }

    /// [`Client::replace_resolver`] for a resolver of a [group](crate::group), which is named as the method that it is.
    ///
    /// # Panics
    ///
    /// If nothing that the server offers uses it, or if it makes something else than `value` does.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use rejoinder::{prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// struct Station;
    ///
    /// #[handlers]
    /// impl Station {
    ///     #[resolver]
    ///     fn weather(&self, city: &str) -> Result<String, CallError> { Err(CallError::new(format!("{city} is not on the map"))) }
    ///
    ///     #[tool]
    ///     async fn dress(&self, city: String, #[resolve(Self::weather)] weather: &String) -> String {
    ///         format!("{weather} in {city}")
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::Error> {
    /// let server = Server::new("wardrobe", "1.0.0").tools(Arc::new(Station).tools());
    /// let client = Client::new(server).replace_method(Station::weather, || "rain".to_owned());
    /// let reply = client.call_tool("dress", json!({ "city": "Bergen" })).await?;
    /// assert_eq!(reply.text(), "rain in Bergen");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    #[track_caller]
    pub fn replace_method<F: 'static, T: 'static>(
        mut self,
        _method: F,
        value: impl Fn() -> T + Send + Sync + 'static,
    ) -> Self {
        let found = self.server.0.find_resolver(|instance| (instance.function)() == TypeId::of::<F>());
        let Some(instance) = found else { panic!("nothing of the server uses the resolver `{}`", type_name::<F>()) };
        if (instance.output)() != TypeId::of::<T>() {
            let (name, makes, made) = (instance.shown(), (instance.output_name)(), type_name::<T>());
            panic!("the resolver `{name}` makes a `{makes}`, and a `{made}` is put in its place")
        }
        let replaced = self.server.0.replace_instance(instance, value);
        self.server = BuiltServer(replaced);
        self.service = McpService::new(Arc::clone(&self.server.0));
        self.anew()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::{prelude::*, testing::Client};

    #[derive(Elicit, Debug, Clone)]
    struct Name {
        name: String,
    }

    struct Desk;

    #[handlers]
    impl Desk {
        #[resolver]
        fn sender(&self) -> Ask<Name> {
            Ask::user("Who sends it?")
        }

        #[tool]
        fn send(&self, #[resolve(Self::sender)] sender: Name) -> String {
            sender.name
        }
    }

    #[test]
    #[should_panic(expected = "makes a `rejoinder::testing::replacing::tests::Name`, and a `rejoinder::ask::")]
    fn what_a_method_makes_is_told_to_who_puts_its_question_in_its_place() {
        let client = Client::new(Server::new("post", "1.0.0").tools(Arc::new(Desk).tools()));
        let _ = client.replace_method(Desk::sender, || Ask::known(Name { name: "Ada".to_owned() }));
    }
}
