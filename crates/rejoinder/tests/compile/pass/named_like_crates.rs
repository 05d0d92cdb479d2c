//! A function may have the name of a crate, of a type, or of something else that the language knows.

#![deny(warnings)]

mod named {
    use rejoinder::{call::CompletionRequest, prelude::*};

    #[resolver]
    fn serde() -> u8 {
        1
    }

    #[resolver]
    fn test<T: Default + Clone + Send + Sync + 'static>() -> T {
        T::default()
    }

    #[resolver]
    fn miri() -> bool {
        true
    }

    #[pipe]
    fn char(text: String) -> usize {
        text.len()
    }

    #[completion]
    fn bench(typed: CompletionRequest) -> Vec<String> {
        vec![typed.value]
    }

    #[prompt]
    fn schemars(#[arg(complete = bench)] text: String) -> String {
        text
    }

    #[tool(enabled = [miri, self::miri])]
    fn clippy(
        #[resolve(serde)] one: u8,
        #[resolve(self::serde)] again: u8,
        #[resolve(test::<u16>)] none: u16,
        #[pipe(char)] length: usize,
    ) -> String {
        format!("{one} {again} {none} {length}")
    }

    #[tool]
    fn rustfmt() {}

    #[tool]
    fn diagnostic() {}

    #[tool]
    fn path() {}

    #[tool]
    fn vec() {}

    pub fn server() -> Server {
        #[tool]
        fn bench() {}

        Server::new("names", "1").tools(tools![clippy, rustfmt, diagnostic, path, vec, bench]).prompts(prompts![schemars])
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let client = rejoinder::testing::Client::new(named::server());
        let reply = client.call_tool("clippy", serde_json::json!({ "length": "four" })).await.expect("a reply");
        assert_eq!(reply.text(), "1 1 0 4");
    });
}
