//! What a test puts in the place of services and resolvers.

use std::{
    any::{TypeId, type_name},
    sync::Arc,
};

use super::{Client, kills::mortal_tasks};
use crate::{
    call::Dependencies,
    graph::{Double, Resolver},
    server::BuiltServer,
    tasks::Tasks,
    transport::McpService,
};

impl Client {
    /// The provided service of this type, to look at what the calls did with it.
    ///
    /// # Panics
    ///
    /// If no service of that type was provided, or the server has not made it yet: `provide_async` makes it at the first call.
    ///
    /// ```
    /// use std::sync::Mutex;
    ///
    /// use rejoinder::{prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// #[tool]
    /// async fn note(text: String, notes: Dep<Mutex<Vec<String>>>) { notes.lock().unwrap().push(text); }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("notes", "1.0.0").provide(Mutex::new(Vec::<String>::new())).tools(tools![note]));
    /// client.call_tool("note", json!({ "text": "tea" })).await?;
    /// assert_eq!(*client.dependency::<Mutex<Vec<String>>>().lock().unwrap(), ["tea"]);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn dependency<T: ?Sized + Send + Sync + 'static>(&self) -> Arc<T> {
        let service = self.connection.server.0.dependencies().get();
        service.unwrap_or_else(|| panic!("no `{}` was provided, or the server has not started", type_name::<T>()))
    }

    /// Replaces the provided service of this type.
    ///
    /// # Panics
    ///
    /// If no service of that type was provided.
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
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let server = Server::new("clock", "1.0.0").provide(Clock(|| panic!("the real clock"))).tools(tools![now]);
    /// let client = Client::new(server).replace(Clock(|| 42));
    /// assert_eq!(client.call_tool("now", json!({})).await?.text(), "42");
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn replace<T: Send + Sync + 'static>(self, service: T) -> Self {
        self.replace_arc(Arc::new(service))
    }

    /// [`Client::replace`] with a service that the test keeps, or a `dyn Trait`.
    ///
    /// # Panics
    ///
    /// If no service of that type was provided.
    #[track_caller]
    pub fn replace_arc<T: ?Sized + Send + Sync + 'static>(self, service: Arc<T>) -> Self {
        if !self.connection.server.0.dependencies().contains(TypeId::of::<T>()) {
            let name = type_name::<T>();
            panic!("no `{name}` was provided, so none can be replaced; for a `dyn Trait` use `replace_arc`")
        }
        self.with_dependencies(|dependencies| dependencies.insert(service))
    }

    /// Replaces a resolver, named as in `#[resolve(..)]`, with a function that makes its value. For a method in
    /// [`#[handlers]`](crate::handlers) see [`Client::replace_method`].
    ///
    /// The resolver does not run, does not ask, and does not need its own parameters.
    ///
    /// # Panics
    ///
    /// If no item of the server uses the resolver.
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
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let server = Server::new("wardrobe", "1.0.0").tools(tools![dress]);
    /// let client = Client::new(server).replace_resolver::<weather>(|| "rain".to_owned());
    /// let reply = client.call_tool("dress", json!({ "city": "Bergen" })).await?;
    /// assert_eq!(reply.text(), "rain in Bergen");
    /// assert!(reply.ran.concat().is_empty(), "it did not run");
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn replace_resolver<R: Resolver>(self, value: impl Fn() -> R::Output + Send + Sync + 'static) -> Self {
        self.replaced_by::<R>(Double::Value(Box::new(value)))
    }

    #[track_caller]
    fn replaced_by<R: Resolver>(self, double: Double<R::Output>) -> Self {
        let resolver = TypeId::of::<R>();
        if self.connection.server.0.find_resolver(|instance| instance.type_id() == resolver).is_none() {
            panic!("no item of the server uses the resolver `{}`", R::instance().shown())
        }
        self.with_dependencies(|dependencies| dependencies.replace_resolver(resolver, double))
    }

    /// Replaces a resolver with another one, which may fail, ask, and take arguments and services.
    ///
    /// The other resolver asks under its own name, and takes only arguments that the items have.
    ///
    /// # Panics
    ///
    /// If no item of the server uses the resolver.
    ///
    /// ```
    /// use rejoinder::{Ask, form::TextForm, prelude::*, testing::Client};
    /// use serde_json::json;
    ///
    /// #[resolver]
    /// fn weather(city: &str) -> String { panic!("calls a service about {city}") }
    ///
    /// #[tool]
    /// async fn dress(city: String, #[resolve(weather)] weather: &String) -> String { format!("{weather} in {city}") }
    ///
    /// #[resolver]
    /// fn asked_weather(city: &str) -> Ask<String> { Ask::text(format!("What is the weather in {city}?")) }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let client = Client::new(Server::new("wardrobe", "1.0.0").tools(tools![dress])).replace_with::<weather, asked_weather>();
    /// let client = client.answer("asked_weather", TextForm { text: "rain".to_owned() });
    /// assert_eq!(client.call_tool("dress", json!({ "city": "Bergen" })).await?.text(), "rain in Bergen");
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn replace_with<R: Resolver, S: Resolver<Output = R::Output>>(self) -> Self {
        self.replaced_by::<R>(Double::Resolver(S::run))
    }

    /// [`Client::replace_resolver`] for a method in [`#[handlers]`](crate::handlers).
    ///
    /// # Panics
    ///
    /// If no item of the server uses the resolver, or if its value has another type.
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
    /// # async fn main() -> Result<(), rejoinder::testing::ClientError> {
    /// let server = Server::new("wardrobe", "1.0.0").tools(Arc::new(Station).tools());
    /// let client = Client::new(server).replace_method(Station::weather, || "rain".to_owned());
    /// let reply = client.call_tool("dress", json!({ "city": "Bergen" })).await?;
    /// assert_eq!(reply.text(), "rain in Bergen");
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn replace_method<F: 'static, T: 'static>(
        self,
        _method: F,
        value: impl Fn() -> T + Send + Sync + 'static,
    ) -> Self {
        let found = self.connection.server.0.find_resolver(|instance| (instance.types.function)() == TypeId::of::<F>());
        let Some(instance) = found else { panic!("no item of the server uses the resolver `{}`", type_name::<F>()) };
        if (instance.types.output)() != TypeId::of::<T>() {
            let (name, makes, made) = (instance.shown(), (instance.types.output_name)(), type_name::<T>());
            panic!("the resolver `{name}` makes a `{makes}`; it cannot be replaced with a `{made}`")
        }
        let double = Double::Value(Box::new(value));
        self.with_dependencies(|dependencies| dependencies.replace_resolver(instance.type_id(), double))
    }

    fn with_dependencies(mut self, change: impl FnOnce(&mut Dependencies)) -> Self {
        let (tasks, keeper) = mortal_tasks();
        self.connection.tasks = self.connection.tasks.map(|_| keeper);
        self.on_copy(change, tasks)
    }

    /// The client of a copy of the server, with tasks of its own.
    pub(super) fn on_copy(mut self, change: impl FnOnce(&mut Dependencies), tasks: Tasks) -> Self {
        let engine = self.connection.server.0.with_dependencies(change, tasks);
        self.connection.service = McpService::new(Arc::clone(&engine));
        self.connection.server = BuiltServer(engine);
        self.reconnected()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::{prelude::*, testing::Client};

    #[derive(Elicit, Debug, Clone)]
    struct Applicant {
        name: String,
    }

    struct Desk;

    #[handlers]
    impl Desk {
        #[resolver]
        fn sender(&self) -> Ask<Applicant> {
            Ask::user("Who sends it?")
        }

        #[tool]
        fn send(&self, #[resolve(Self::sender)] sender: Applicant) -> String {
            sender.name
        }
    }

    #[test]
    #[should_panic(
        expected = "makes a `rejoinder::testing::doubles::tests::Applicant`; it cannot be replaced with a `rejoinder::ask::"
    )]
    fn a_method_is_replaced_by_its_value_not_by_its_question() {
        let client = Client::new(Server::new("post", "1.0.0").tools(Arc::new(Desk).tools()));
        let _ = client.replace_method(Desk::sender, || Ask::known(Applicant { name: "Ada".to_owned() }));
    }
}
