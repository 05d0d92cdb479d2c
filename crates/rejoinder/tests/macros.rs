//! Tests of the macros at run time.
use rejoinder::prelude::*;

/// Adds two numbers.
#[tool]
async fn add(
    a: i64,
    /** the other */
    b: i64,
    ctx: Context,
) -> i64 {
    ctx.info("adding").await;
    a + b
}

struct Shop {
    stock: std::sync::Mutex<u32>,
}

#[group]
impl Shop {
    /// Buys.
    #[tool(read_only = false)]
    async fn buy(&self, #[arg(default = 1)] n: u32) -> Result<String, ToolError> {
        *self.stock.lock().unwrap() -= n;
        Ok(format!("{n}"))
    }
    #[prompt]
    fn pitch(what: String) -> String {
        what
    }
    #[resource("shop://{item}", ttl_ms = 50)]
    fn item(&self, item: String) -> String {
        item
    }
    fn other(&self) {}
}

#[test]
fn it_runs() {
    let t = tools![add];
    println!("{}", serde_json::to_string_pretty(t[0].record()).unwrap());
    let s = std::sync::Arc::new(Shop { stock: 3.into() });
    s.other();
    println!("{:?} {:?} {:?}", s.tools(), s.prompts(), s.resources());
}
