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
