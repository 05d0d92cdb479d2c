//! rmcp with `remove`, whose calls take two rounds made by hand.
//!
//! `bench-rmcp-rounds --http 127.0.0.1:PORT`. As rmcp documents it: the state is sealed with its own signing codec,
//! bound to the call, and good for ten minutes. The handler is called without a router, the shortest way there is.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use rejoinder_bench::{flags::Flags, serve, two_rounds};
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ElicitRequest, ElicitRequestParams,
    ElicitationSchema, ErrorData, InputRequest, InputRequests, InputRequiredResult, RequestStateCodec, SealOptions,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use serde::{Deserialize, Serialize};

/// How long a user may think.
const TTL: Duration = Duration::from_secs(600);

/// The server, made for every request.
#[derive(Debug, Clone)]
struct Remover {
    codec: Arc<RequestStateCodec>,
    schema: Arc<ElicitationSchema>,
}

/// What rides in the state.
#[derive(Debug, Serialize, Deserialize)]
struct Asked {
    key: String,
    message: String,
}

/// What the user said.
#[derive(Debug, Deserialize)]
struct Confirm {
    yes: bool,
}

impl Remover {
    fn ask(&self, path: &str) -> Result<CallToolResponse, ErrorData> {
        let message = two_rounds::message(path);
        let question = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: message.clone(),
            requested_schema: ElicitationSchema::clone(&self.schema),
        };
        let asked = Asked { key: two_rounds::KEY.to_owned(), message };
        let state = self
            .codec
            .seal_json_with(&asked, &SealOptions::new().associated_data(&binding(path)).ttl(TTL))
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let question = InputRequest::Elicitation(ElicitRequest::new(question));
        let requests = InputRequests::from([(two_rounds::KEY.to_owned(), question)]);
        Ok(InputRequiredResult::new(Some(requests), Some(state)).into())
    }

    fn go_on(&self, path: &str, state: &str, request: &CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
        let asked: Asked = self
            .codec
            .open_json_with(state, &binding(path))
            .map_err(|_| ErrorData::invalid_params("the state is not valid", None))?;
        if asked.message != two_rounds::message(path) {
            return self.ask(path);
        }
        let answer = request.input_responses.as_ref().and_then(|answers| answers.get(&asked.key));
        let accepted = answer.filter(|answer| answer["action"] == "accept");
        let confirm = accepted.and_then(|answer| Confirm::deserialize(&answer["content"]).ok());
        if !confirm.is_some_and(|confirm| confirm.yes) {
            return Ok(CallToolResult::error(vec![ContentBlock::text("not removed")]).into());
        }
        Ok(CallToolResult::success(vec![ContentBlock::text(two_rounds::removed(path))]).into())
    }
}

/// What a state is good for: this call, with these arguments.
fn binding(path: &str) -> Vec<u8> {
    format!("tools/call|remove|{path}").into_bytes()
}

impl ServerHandler for Remover {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let path = request.arguments.as_ref().and_then(|arguments| arguments.get("path")?.as_str());
        let path = path.ok_or_else(|| ErrorData::invalid_params("`path` is missing", None))?;
        match &request.request_state {
            None => self.ask(path),
            Some(state) => self.go_on(path, state, &request),
        }
    }
}

fn main() -> Result<()> {
    let flags = Flags::parse(std::env::args().skip(1))?;
    let codec = RequestStateCodec::try_new(*b"a secret of the bench, 32 bytes.")?;
    let schema = ElicitationSchema::builder()
        .required_bool_with("yes", |yes| yes.description("Remove it and everything in it?"))
        .build()
        .map_err(anyhow::Error::msg)?;
    let server = Remover { codec: Arc::new(codec), schema: Arc::new(schema) };
    serve::runtime()?.block_on(serve::serve(flags.address()?, serve::rmcp(move || Ok(server.clone()))))
}
