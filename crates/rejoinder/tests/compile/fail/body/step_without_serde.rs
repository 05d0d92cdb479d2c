// 8:23: `Receipt` cannot be the result of a step, which is kept with the call: add `#[derive(Serialize, Deserialize)]`
use rejoinder::prelude::*;

struct Receipt(u8);

#[tool]
async fn buy(ctx: Context) -> Result<u8, CallError> {
    let receipt = ctx.once("charge", || async { Ok(Receipt(1)) }).await?;
    Ok(receipt.0)
}

fn main() {}
