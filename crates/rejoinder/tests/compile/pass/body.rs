//! The valid counterparts of `fail/body`.

#![deny(warnings)]

use std::{borrow::Cow, future::ready, io, sync::Arc, time::Duration};

use rejoinder::{prelude::*, testing::Client};
use serde_json::json;

async fn twice(number: u8) -> Result<u8, CallError> {
    Ok(number * 2)
}

#[tool]
async fn steps(ctx: Context) -> Result<u8, CallError> {
    let name = String::from("name");
    let mut sum: u8 = ctx.once("call", || twice(1)).await?;
    sum += ctx.once(&name, async || twice(2).await).await?;
    sum += ctx.once(format!("{name} {sum}"), || Box::pin(twice(3))).await?;
    sum += ctx.once(Cow::Borrowed("parse"), || async { Ok("4".parse::<u8>()?) }).await?;
    sum += ctx.once_shared(Arc::<str>::from("ready"), || ready(Ok(5))).await?;
    ctx.once("nothing", || async { Ok(()) }).await?;
    Ok(sum)
}

#[tool]
async fn numbers(ctx: Context) -> u8 {
    ctx.progress(1).total([1, 2].len()).await;
    ctx.progress(1.5).total(Duration::from_secs(2).as_millis()).await;
    1
}

trait Clock: Send + Sync {
    fn now(&self) -> u8;
}

impl Clock for u8 {
    fn now(&self) -> u8 {
        *self
    }
}

async fn port(_: ServerHandle) -> Result<u16, CallError> {
    Ok(80)
}

#[tool]
fn services(text: Dep<String>, port: Dep<u16>, width: Dep<u32>, clock: Dep<dyn Clock>) -> String {
    format!("{} {} {} {}", *text, *port, *width, clock.now())
}

fn server() -> Server {
    let text = String::from("text");
    Server::new("body", "1")
        .provide_async(async move |_| Ok::<_, io::Error>(text))
        .provide_async(port)
        .provide_async(|server| async move { server.dependency::<u16>().map(|port| u32::from(*port)).ok_or("no port") })
        .provide_arc_async(async |_| Ok::<Arc<dyn Clock>, String>(Arc::new(3_u8)))
        .on_start(async |server| drop(server.dependency::<u16>()))
        .on_stop(|_| async { Ok::<(), CallError>(()) })
        .tools(tools![steps, numbers, services])
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        for (tool, text) in [("steps", "21"), ("numbers", "1"), ("services", "text 80 80 3")] {
            let reply = Client::new(server()).call_tool(tool, json!({})).await.expect("a reply");
            assert_eq!(reply.text(), text, "{tool}");
        }
    });
}
