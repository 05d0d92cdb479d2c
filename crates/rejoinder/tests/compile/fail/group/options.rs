// 6:20: write `tools = more_tools`
use rejoinder::prelude::*;

struct Shop;

#[handlers(tools = "more", prompt = more_prompts, resources = more_resources)]
impl Shop {
    #[tool]
    fn buy(&self) {}
}

fn main() {}
