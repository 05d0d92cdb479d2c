// 19:21: resolver `owner` (unknown_argument_below.rs:8) takes the prompt's argument `path: &str`, but prompt `delete` has no arguments: add the argument to the prompt, or use the name of the one that is meant
use rejoinder::prelude::*;

mod auth {
    use rejoinder::prelude::*;

    #[resolver]
    pub fn owner(path: &str, ctx: Context) -> String {
        format!("{path} {:?}", ctx.era())
    }

    #[resolver]
    pub fn confirm(#[resolve(owner)] owner: &String) -> bool {
        owner.is_empty()
    }
}

#[prompt]
fn delete(#[resolve(auth::confirm)] confirm: bool) -> String {
    confirm.to_string()
}

fn main() {
    let _ = prompts![delete];
}
