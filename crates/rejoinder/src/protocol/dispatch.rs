//! From a message to what becomes of it.

use std::sync::Arc;

use crate::call::RequestInfo;
use bytes::Bytes;
use http::{Extensions, HeaderMap, StatusCode};
use serde_json::json;

use super::{
    Answer, RpcError, Stream,
    answer::Contents,
    arguments::{ToolArguments, explain_tool, read_prompt},
    completion::complete,
    envelope::Envelope,
    facts::{facts, version},
    headers::{check_arguments, check_method, check_name, check_version},
    listen::Listen,
    params::{Arguments, Params},
    round::{Begun, Bound},
    version::{MODERN, supported},
    write::{Reply, error_reply, list_reply, result_reply},
};
use crate::server::{CacheHints, Engine, List, Running, ToolEntry};

/// What the HTTP request brought along, if there was one.
pub(crate) type Http = Option<Box<(HeaderMap, Extensions)>>;

/// Answers a message of the stateless era.
pub(crate) fn dispatch(engine: &Arc<Engine>, body: &Bytes, envelope: Envelope<'_>, http: Http) -> Answer {
    let Some(method) = envelope.method else {
        // Its id is not one of the client's own requests, which an answer under that id would seem to be for.
        return refuse(None, &RpcError::invalid_request("this server asks nothing, so it takes no response"));
    };
    let Some(id) = envelope.id else { return Answer::Nothing };
    let request = Request { engine, body, id, method: &method };
    request.answer(envelope.params, http).unwrap_or_else(|error| refuse(Some(id), &error))
}

fn refuse(id: Option<&str>, error: &RpcError) -> Answer {
    Answer::Reply(error_reply(id, error))
}

/// A request, while it is being answered.
struct Request<'a> {
    engine: &'a Arc<Engine>,
    body: &'a Bytes,
    id: &'a str,
    method: &'a str,
}

/// The methods there are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    Discover,
    List(List),
    Call(Called),
    Complete,
    Listen,
}

/// What a call is of: what may take several rounds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Called {
    Tool,
    Prompt,
    Resource,
}

impl Method {
    /// The method of that name, if the server has what it is about.
    fn find(name: &str, engine: &Engine) -> Option<Self> {
        let capabilities = &engine.capabilities;
        let (method, offered) = match name {
            "server/discover" => (Self::Discover, true),
            "tools/call" => (Self::Call(Called::Tool), capabilities.tools.is_some()),
            "tools/list" => (Self::List(List::Tools), capabilities.tools.is_some()),
            "prompts/get" => (Self::Call(Called::Prompt), capabilities.prompts.is_some()),
            "prompts/list" => (Self::List(List::Prompts), capabilities.prompts.is_some()),
            "resources/read" => (Self::Call(Called::Resource), capabilities.resources.is_some()),
            "resources/list" => (Self::List(List::Resources), capabilities.resources.is_some()),
            "resources/templates/list" => (Self::List(List::Templates), capabilities.resources.is_some()),
            "completion/complete" => (Self::Complete, capabilities.completions.is_some()),
            "subscriptions/listen" => (Self::Listen, true),
            _ => return None,
        };
        offered.then_some(method)
    }
}

impl Called {
    /// The method's name.
    fn method(self) -> &'static str {
        match self {
            Self::Tool => "tools/call",
            Self::Prompt => "prompts/get",
            Self::Resource => "resources/read",
        }
    }
}

impl Request<'_> {
    /// The checks come in the order in which their errors should win: what the request is, then what it wants.
    fn answer(&self, mut params: Params<'_>, http: Http) -> Result<Answer, RpcError> {
        if self.method == "initialize" && !self.engine.options.sessions {
            return Err(RpcError::no_sessions(params.raw));
        }
        let meta = params.meta.as_mut().ok_or_else(|| RpcError::invalid_params("`params._meta` is missing"))?;
        let headers = http.as_deref().map(|(headers, _)| headers);
        let version = version(meta)?;
        headers.map_or(Ok(()), |headers| check_version(headers, version))?;
        if version != MODERN {
            return Err(RpcError::unsupported_version(version, self.engine.options.sessions));
        }
        let mut facts = facts(self.body, self.id, meta)?;
        headers.map_or(Ok(()), |headers| check_method(headers, self.method))?;
        let method = Method::find(self.method, self.engine).ok_or_else(|| RpcError::method_not_found(self.method))?;
        match method {
            Method::Call(called) => self.call(called, params, facts, http),
            Method::List(list) => self.list(list, params.cursor.optional("cursor")?),
            Method::Discover => Ok(self.discover()),
            Method::Listen => self.listen(params.raw.unwrap_or("{}")),
            Method::Complete => {
                facts.http = http;
                complete(self.engine, params.raw.unwrap_or("{}"), facts)
            }
        }
    }

    fn call(
        &self,
        called: Called,
        mut params: Params<'_>,
        mut facts: RequestInfo,
        http: Http,
    ) -> Result<Answer, RpcError> {
        let name = match called {
            Called::Tool | Called::Prompt => params.name.required("name")?,
            Called::Resource => params.uri.required("uri")?,
        };
        let headers = http.as_deref().map(|(headers, _)| headers);
        headers.map_or(Ok(()), |headers| check_name(headers, name))?;
        let raw = params.arguments.raw();
        let tool = match called {
            Called::Tool => params.tool.take().or_else(|| self.engine.tool(name)),
            Called::Prompt | Called::Resource => None,
        };
        if let (Some(tool), Some(headers)) = (&tool, headers) {
            check_arguments(headers, tool, raw)?;
        }
        facts.http = http;
        let mut bound = Bound::new(self.engine, self.body, (called.method(), name), raw, &facts)?;
        let begun = bound.begin(self.engine, &params)?;
        match called {
            Called::Tool => self.call_tool(tool, std::mem::take(&mut params.arguments), facts, bound, begun),
            Called::Prompt => self.get_prompt(name, raw, facts, bound, begun),
            Called::Resource => self.read_resource(name, facts, bound, begun),
        }
    }

    fn reply(reply: Reply) -> Result<Answer, RpcError> {
        Ok(Answer::Reply(reply))
    }

    fn call_tool(
        &self,
        tool: Option<Arc<ToolEntry>>,
        arguments: Arguments<'_>,
        facts: RequestInfo,
        bound: Bound,
        begun: Begun,
    ) -> Result<Answer, RpcError> {
        let entry = tool.ok_or_else(|| RpcError::unknown_tool(self.engine, bound.target()))?;
        let read = match arguments {
            Arguments::Ready(ready, _) => ToolArguments::Good(ready),
            Arguments::Absent => explain_tool(self.engine, &entry, "{}")?,
            Arguments::Raw(raw) => explain_tool(self.engine, &entry, raw)?,
        };
        let ready = match read {
            ToolArguments::Good(ready) => ready,
            ToolArguments::Bad(result) => {
                return Self::reply(result_reply(self.id, &result, &self.engine.info_json));
            }
        };
        let id = facts.request_id.clone();
        let running = Running::start(ready, self.engine.asking_call(facts, begun.carriage));
        Ok(Answer::Stream(Stream::tool(Arc::clone(self.engine), id, running, bound).after(begun.spend)))
    }

    fn get_prompt(
        &self,
        name: &str,
        arguments: Option<&str>,
        facts: RequestInfo,
        bound: Bound,
        begun: Begun,
    ) -> Result<Answer, RpcError> {
        let entry = self.engine.prompt(name).ok_or_else(|| RpcError::unknown_prompt(self.engine, name))?;
        let ready = read_prompt(self.engine, &entry, arguments.unwrap_or("{}"))?;
        let id = facts.request_id.clone();
        let running = Running::start(ready, self.engine.asking_call(facts, begun.carriage));
        Ok(Answer::Stream(Stream::prompt(Arc::clone(self.engine), id, running, bound).after(begun.spend)))
    }

    fn read_resource(&self, uri: &str, facts: RequestInfo, bound: Bound, begun: Begun) -> Result<Answer, RpcError> {
        let (entry, ready) = self.engine.resource(uri).ok_or_else(|| RpcError::unknown_resource(uri))?;
        let id = facts.request_id.clone();
        // What somebody answered is in the contents: it is theirs alone, and for now.
        let hints =
            if begun.continues { CacheHints::CONTENTS } else { entry.hints(self.engine.options.contents_hints) };
        let contents = Contents { uri: uri.to_owned(), mime_type: entry.resource.details().mime_type, hints };
        let running = Running::start(ready, self.engine.asking_call(facts, begun.carriage));
        let stream = Stream::resource(Arc::clone(self.engine), id, running, bound, contents);
        Ok(Answer::Stream(stream.after(begun.spend)))
    }

    fn list(&self, list: List, cursor: Option<&str>) -> Result<Answer, RpcError> {
        Self::reply(list_reply(self.id, self.engine.page(list, cursor)?))
    }

    fn listen(&self, params: &str) -> Result<Answer, RpcError> {
        let Some(listen) = Listen::open(self.engine, params)? else {
            let error = RpcError::too_many_subscriptions(self.engine.options.limits.subscriptions);
            return Self::reply(Reply {
                status: StatusCode::SERVICE_UNAVAILABLE,
                ..error_reply(Some(self.id), &error)
            });
        };
        // A part of the body would keep all of it for as long as the subscription is open.
        let id = Bytes::copy_from_slice(self.id.as_bytes());
        Ok(Answer::Stream(Stream::listen(Arc::clone(self.engine), id, listen)))
    }

    fn discover(&self) -> Answer {
        let engine = self.engine;
        let mut result = json!({
            "resultType": "complete",
            "supportedVersions": supported(engine.options.sessions),
            "capabilities": engine.capabilities,
            "ttlMs": engine.options.list_hints.ttl_ms,
            "cacheScope": engine.options.list_hints.scope,
        });
        if let Some(instructions) = &engine.instructions {
            result["instructions"] = instructions.as_str().into();
        }
        Answer::Reply(result_reply(self.id, &result, &engine.info_json))
    }
}
