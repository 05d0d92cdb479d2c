use std::{borrow::Cow, sync::Arc};

use rmcp::{
    RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, CustomRequest,
        CustomResult, DiscoverResult, ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
        InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
        ReadResourceResult, ServerConfig, SubscribeRequestParams, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext},
};
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{drive::drive, error::wire, notify::from_wire, state::Session};
use crate::{
    protocol::{RpcError, unwrap},
    server::{Calls, Engine},
};

type Context = RequestContext<RoleServer>;

/// The versions of the session era, in rmcp's type: [`crate::protocol::LEGACY`].
const VERSIONS: [ProtocolVersion; 4] = [
    ProtocolVersion::V_2025_11_25,
    ProtocolVersion::V_2025_06_18,
    ProtocolVersion::V_2025_03_26,
    ProtocolVersion::V_2024_11_05,
];

/// One session, served by the engine.
#[derive(Debug)]
pub(crate) struct SessionHandler {
    engine: Arc<Engine>,
    session: Session,
}

impl SessionHandler {
    /// A session that begins. When `ending` is cancelled, its calls are.
    pub(crate) fn new(engine: Arc<Engine>, ending: CancellationToken) -> Self {
        let session = Session::new(&engine, ending);
        Self { engine, session }
    }

    /// One at the end of a pipe: `unheard` is cancelled when nothing more is read from it, and its calls count here too.
    pub(super) fn on_pipe(mut self, unheard: CancellationToken, calls: Calls) -> Self {
        (self.session.unheard, self.session.calls) = (unheard, calls);
        self
    }

    /// Whether a method exists here: what it is about must have been declared.
    fn offers(&self, method: &str) -> bool {
        let declared = &self.engine.capabilities;
        match method {
            "initialize" | "ping" => true,
            "tools/list" | "tools/call" => declared.tools.is_some(),
            "prompts/list" | "prompts/get" => declared.prompts.is_some(),
            "resources/list"
            | "resources/templates/list"
            | "resources/read"
            | "resources/subscribe"
            | "resources/unsubscribe" => declared.resources.is_some(),
            "completion/complete" => declared.completions.is_some(),
            "logging/setLevel" => declared.logging.is_some(),
            _ => false,
        }
    }

    async fn drive<R: DeserializeOwned>(&self, context: &Context, method: &str, params: &str) -> Result<R, ErrorData> {
        drive(&self.engine, &self.session, context, method, params).await
    }

    fn check(&self, method: &'static str) -> Result<(), ErrorData> {
        if self.offers(method) { Ok(()) } else { Err(wire(RpcError::method_not_found(method))) }
    }
}

fn cursor(params: Option<&PaginatedRequestParams>) -> Option<&str> {
    params?.cursor.as_deref()
}

impl ServerHandler for SessionHandler {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(self.engine.capabilities.clone())
            .with_server_info(self.engine.info.clone())
            .with_protocol_version(VERSIONS[0].clone());
        info.instructions.clone_from(&self.engine.instructions);
        info
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&VERSIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        // rmcp notes what was negotiated. A second request would replace that note by what is merely asked for.
        self.session.begin().map_err(wire)?;
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.session.changes.forward_to(&context.peer);
    }

    async fn discover(&self, _: Context) -> Result<DiscoverResult, ErrorData> {
        Err(wire(RpcError::method_not_found("server/discover")))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        self.drive(&context, "tools/list", &json!({ "cursor": cursor(request.as_ref()) }).to_string()).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.drive(&context, "prompts/list", &json!({ "cursor": cursor(request.as_ref()) }).to_string()).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.drive(&context, "resources/list", &json!({ "cursor": cursor(request.as_ref()) }).to_string()).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.drive(&context, "resources/templates/list", &json!({ "cursor": cursor(request.as_ref()) }).to_string())
            .await
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: Context) -> Result<CallToolResponse, ErrorData> {
        let (name, arguments) = (json!(request.name), unwrap(request.arguments));
        let params = format!("{{\"name\":{name},\"arguments\":{arguments}}}");
        self.drive::<CallToolResult>(&context, "tools/call", &params).await.map(Into::into)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let params = json!({ "name": request.name, "arguments": request.arguments }).to_string();
        self.drive::<GetPromptResult>(&context, "prompts/get", &params).await.map(Into::into)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let params = json!({ "uri": request.uri }).to_string();
        self.drive::<ReadResourceResult>(&context, "resources/read", &params).await.map(Into::into)
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: Context) -> Result<(), ErrorData> {
        self.check("resources/subscribe")?;
        // Some clients never say that they are initialized.
        self.session.changes.forward_to(&context.peer);
        let subscribed = self.session.changes.subscribe(request.uri);
        subscribed.map_err(|too_much| wire(RpcError::invalid_params(too_much.to_string())))
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        self.check("resources/unsubscribe")?;
        self.session.changes.unsubscribe(&request.uri);
        Ok(())
    }

    async fn complete(&self, request: CompleteRequestParams, context: Context) -> Result<CompleteResult, ErrorData> {
        let mut params = json!(request);
        if let Some(params) = params.as_object_mut() {
            params.remove("_meta");
        }
        self.drive(&context, "completion/complete", &params.to_string()).await
    }

    #[expect(deprecated, reason = "log messages are deprecated in the protocol, and still part of it")]
    async fn set_level(&self, request: rmcp::model::SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        self.check("logging/setLevel")?;
        self.session.set_level(from_wire(request.level));
        Ok(())
    }

    /// What rmcp could not read as any method: one that nobody knows, or one whose params are not what it takes.
    async fn on_custom_request(&self, request: CustomRequest, _: Context) -> Result<CustomResult, ErrorData> {
        let method = &request.method;
        Err(wire(if self.offers(method) {
            RpcError::invalid_params(format!("`params` is not what `{method}` takes"))
        } else {
            RpcError::method_not_found(method)
        }))
    }
}
