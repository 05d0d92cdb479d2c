use std::{borrow::Cow, sync::Arc};

use rmcp::{
    RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CompletionInfo, CustomRequest,
        CustomResult, DiscoverResult, ErrorData, GetPromptRequestParams, GetPromptResponse, InitializeRequestParams,
        InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
        Reference as WireReference, ServerConfig, SubscribeRequestParams, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext},
};
use tokio_util::sync::CancellationToken;

use super::{
    drive::{drive, unless_cancelled},
    error::{unknown_resource, unread_resource, wire},
    facts::facts,
    notify::from_wire,
    state::Session,
};
use crate::{
    protocol::{RpcError, ToolArguments, flatten, read_prompt, read_tool, settle, unwrap},
    server::{Calls, Engine, Reference},
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
        _: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        self.check("tools/list")?;
        let (tools, next_cursor) = self.engine.list_tools(cursor(request.as_ref())).map_err(|bad| wire(bad.into()))?;
        Ok(ListToolsResult { next_cursor, ..ListToolsResult::with_all_items(tools) })
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: Context) -> Result<CallToolResponse, ErrorData> {
        self.check("tools/call")?;
        let (engine, name) = (&self.engine, &*request.name);
        let entry = engine.tool(name).ok_or_else(|| wire(RpcError::unknown_tool(engine, name)))?;
        let arguments = unwrap(request.arguments);
        let ready = match read_tool(engine, &entry, &arguments).map_err(wire)? {
            ToolArguments::Good(ready) => ready,
            ToolArguments::Bad(result) => return Ok(result.into()),
        };
        let again = || match read_tool(engine, &entry, &arguments) {
            Ok(ToolArguments::Good(ready)) => Some(ready),
            _ => None,
        };
        let outcome = drive(engine, &self.session, &context, ready, again).await?;
        settle(name, outcome).map(Into::into).map_err(wire)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.check("prompts/list")?;
        let page = self.engine.list_prompts(cursor(request.as_ref()));
        let (prompts, next_cursor) = page.map_err(|bad| wire(bad.into()))?;
        Ok(ListPromptsResult { next_cursor, ..ListPromptsResult::with_all_items(prompts) })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.check("prompts/get")?;
        let (engine, name) = (&self.engine, &request.name);
        let entry = engine.prompt(name).ok_or_else(|| wire(RpcError::unknown_prompt(engine, name)))?;
        let arguments = serde_json::Value::Object(request.arguments.unwrap_or_default()).to_string();
        let ready = read_prompt(engine, &entry, &arguments).map_err(wire)?;
        let again = || read_prompt(engine, &entry, &arguments).ok();
        let outcome = drive(engine, &self.session, &context, ready, again).await?;
        flatten(name, outcome).map(Into::into).map_err(wire)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.check("resources/list")?;
        let page = self.engine.list_resources(cursor(request.as_ref()));
        let (resources, next_cursor) = page.map_err(|bad| wire(bad.into()))?;
        Ok(ListResourcesResult { next_cursor, ..ListResourcesResult::with_all_items(resources) })
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.check("resources/templates/list")?;
        let page = self.engine.list_templates(cursor(request.as_ref()));
        let (templates, next_cursor) = page.map_err(|bad| wire(bad.into()))?;
        Ok(ListResourceTemplatesResult { next_cursor, ..ListResourceTemplatesResult::with_all_items(templates) })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.check("resources/read")?;
        let uri = &request.uri;
        let (entry, ready) = self.engine.resource(uri).ok_or_else(|| unknown_resource(uri))?;
        let again = || self.engine.resource(uri).map(|(_, ready)| ready);
        let outcome = drive(&self.engine, &self.session, &context, ready, again).await?;
        let body = flatten(uri, outcome).map_err(|error| unread_resource(uri, error))?;
        Ok(ReadResourceResult::new(body.into_contents(uri, entry.resource.details().mime_type)).into())
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
        self.check("completion/complete")?;
        let reference = match request.r#ref {
            WireReference::Prompt(prompt) => Reference::Prompt(prompt.name),
            WireReference::Resource(resource) => Reference::Resource(resource.uri),
            _ => return Err(wire(RpcError::invalid_params("`params.ref` is a `ref/prompt` or a `ref/resource`"))),
        };
        let most = self.engine.options.limits.calls;
        let _running = self.engine.calls.begin_below(most).ok_or_else(|| wire(RpcError::busy(most)))?;
        let known = request.context.and_then(|context| context.arguments).unwrap_or_default().into_iter().collect();
        let call = self.engine.call(facts(&self.session, &context));
        let argument = request.argument;
        let proposing = self.engine.complete(&reference, &argument.name, argument.value, known, call);
        let proposed = unless_cancelled(&self.session, &context, proposing).await?;
        let completion = proposed
            .map_err(|panicked| wire(RpcError::panicked("completion", panicked)))?
            .ok_or_else(|| wire(RpcError::nothing_to_complete(&reference, &argument.name)))?;
        let mut info = CompletionInfo::default();
        info.total = u32::try_from(completion.total).ok();
        info.has_more = Some(completion.has_more());
        info.values = completion.values;
        Ok(CompleteResult::new(info))
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
