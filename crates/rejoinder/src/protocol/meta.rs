//! A request's `_meta`: the protocol version, what the client can do, who it is.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use bytes::Bytes;
use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{
    Envelope, RpcError,
    envelope::{MAX_ID_LENGTH, string},
};
use crate::{
    argument::MemberName,
    model::{meta_key, version},
    request::{Capabilities, Level, ProgressToken},
};

/// Every version that is served, newest first.
pub(crate) fn supported(sessions: bool) -> Vec<&'static str> {
    std::iter::once(version::STATELESS).chain(version::SESSION.iter().copied().filter(|_| sessions)).collect()
}

/// Whether a message belongs to the session era: neither `_meta` nor the header names a newer version.
pub(crate) fn is_of_session<'h>(envelope: &Envelope<'_>, header: impl FnOnce() -> Option<&'h str>) -> bool {
    let meta = envelope.params.meta.as_ref().and_then(|meta| meta.raw_version());
    let old = |version: &str| version::is_session(version.trim_matches('"'));
    meta.is_none_or(old) && header().is_none_or(old)
}

/// The largest `_meta`, and the largest `params` of `initialize`, in bytes. They describe a client, so a client that sends
/// more than that wants to fill the server's memory.
pub(super) const MAX_META_LENGTH: usize = 64 * 1024;

/// A request's `_meta`. Its values stay raw JSON until they are needed.
#[derive(Debug, Default)]
pub(crate) struct Meta<'a> {
    version: Option<&'a RawValue>,
    capabilities: Option<&'a RawValue>,
    client: Option<&'a RawValue>,
    log_level: Option<&'a RawValue>,
    progress_token: Option<&'a RawValue>,
    /// What the protocol does not define.
    others: BTreeMap<Cow<'a, str>, &'a RawValue>,
}

impl<'de> Deserialize<'de> for Meta<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MetaVisitor;

        impl<'de> Visitor<'de> for MetaVisitor {
            type Value = Meta<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`params._meta` as an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Meta<'de>, A::Error> {
                let (mut meta, mut length) = (Meta::default(), 0);
                while let Some((MemberName(name), value)) = map.next_entry::<_, &RawValue>()? {
                    length += name.len() + value.get().len();
                    if length > MAX_META_LENGTH {
                        let error = format_args!("`params._meta` is larger than {MAX_META_LENGTH} bytes");
                        return Err(Error::custom(error));
                    }
                    let field = match &*name {
                        meta_key::PROTOCOL_VERSION => &mut meta.version,
                        meta_key::CLIENT_CAPABILITIES => &mut meta.capabilities,
                        meta_key::CLIENT_INFO => &mut meta.client,
                        meta_key::LOG_LEVEL => &mut meta.log_level,
                        meta_key::PROGRESS_TOKEN => &mut meta.progress_token,
                        _ => {
                            meta.others.insert(name, value);
                            continue;
                        }
                    };
                    if field.replace(value).is_some() {
                        return Err(Error::custom(format_args!("duplicate field `{name}` in `params._meta`")));
                    }
                }
                Ok(meta)
            }
        }

        deserializer.deserialize_map(MetaVisitor)
    }
}

impl<'a> Meta<'a> {
    /// What the protocol does not define, as a JSON object.
    pub(super) fn others(&self) -> Option<Bytes> {
        if self.others.is_empty() {
            return None;
        }
        serde_json::to_vec(&self.others).ok().map(Bytes::from)
    }

    /// The protocol version as JSON, whatever it is.
    pub(super) fn raw_version(&self) -> Option<&'a str> {
        self.version.map(RawValue::get)
    }

    /// The protocol version.
    pub(super) fn version(&self) -> Result<Cow<'a, str>, RpcError> {
        let version = self.version.ok_or_else(|| missing(meta_key::PROTOCOL_VERSION))?;
        string(version).ok_or_else(|| malformed(meta_key::PROTOCOL_VERSION, "a string"))
    }

    /// What the client can do. Only what this crate knows is kept, so that a client cannot fill the memory.
    pub(super) fn capabilities(&self) -> Result<Capabilities, RpcError> {
        let raw = self.capabilities.ok_or_else(|| missing(meta_key::CLIENT_CAPABILITIES))?;
        let known =
            read_object(raw).ok_or_else(|| malformed(meta_key::CLIENT_CAPABILITIES, "an object of capabilities"))?;
        Ok(KnownCapabilities::into(known))
    }

    /// The client's `clientInfo`, as JSON. Nothing depends on it, so its members are read when somebody wants them.
    pub(super) fn client(&self) -> Result<Option<&'a str>, RpcError> {
        match self.client.map(RawValue::get) {
            Some(client) if !client.starts_with('{') => Err(malformed(meta_key::CLIENT_INFO, "an object")),
            client => Ok(client),
        }
    }

    /// The least severe log message that the client wants.
    pub(super) fn log_level(&self) -> Result<Option<Level>, RpcError> {
        let level = self.log_level.map(|raw| serde_json::from_str(raw.get())).transpose();
        level.map_err(|_| {
            malformed(meta_key::LOG_LEVEL, "one of debug, info, notice, warning, error, critical, alert, emergency")
        })
    }

    /// The token under which the client wants progress.
    pub(super) fn progress_token(&self) -> Result<Option<ProgressToken>, RpcError> {
        let Some(raw) = self.progress_token.map(RawValue::get) else { return Ok(None) };
        // Every notification repeats the token, so it is as short as an id.
        if raw.len() > MAX_ID_LENGTH {
            let message = format!("`params._meta.progressToken` is longer than {MAX_ID_LENGTH} bytes");
            return Err(RpcError::invalid_params(message));
        }
        match serde_json::from_str(raw) {
            Ok(ProgressToken::Number(number)) if number.is_f64() => Err(()),
            token => token.map(Some).map_err(|_| ()),
        }
        .map_err(|()| RpcError::invalid_params("`params._meta.progressToken` must be a string or an integer"))
    }
}

/// The capabilities that this crate knows, in bounded memory.
#[derive(Deserialize)]
pub(super) struct KnownCapabilities {
    elicitation: Option<KnownElicitation>,
    sampling: Option<KnownSampling>,
    roots: Option<KnownRoots>,
    extensions: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct KnownElicitation {
    form: Option<IgnoredAny>,
    url: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct KnownRoots {}

#[derive(Deserialize, Default)]
struct KnownExtensions {
    #[serde(rename = "io.modelcontextprotocol/tasks")]
    tasks: Option<KnownExtension>,
}

/// An extension is declared with an object of settings.
#[derive(Deserialize)]
struct KnownExtension {}

#[derive(Deserialize)]
struct KnownSampling {
    tools: Option<IgnoredAny>,
    context: Option<IgnoredAny>,
}

impl From<KnownCapabilities> for Capabilities {
    fn from(KnownCapabilities { elicitation, sampling, roots, extensions }: KnownCapabilities) -> Self {
        let mut capabilities = Self::default();
        if let Some(can) = elicitation {
            // `elicitation: {}` means forms.
            (capabilities.forms, capabilities.urls) = (can.form.is_some() || can.url.is_none(), can.url.is_some());
        }
        capabilities.sampling = sampling.is_some();
        if let Some(can) = sampling {
            (capabilities.sampling_tools, capabilities.sampling_context) = (can.tools.is_some(), can.context.is_some());
        }
        capabilities.roots = roots.is_some();
        // A client may declare others, in any form: what cannot be read is not declared.
        let extensions: KnownExtensions = extensions.and_then(|raw| read_object(&raw)).unwrap_or_default();
        capabilities.tasks = extensions.tasks.is_some();
        capabilities
    }
}

/// Reads a struct from an object. Serde would also read it from an array.
pub(super) fn read_object<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Option<T> {
    raw.get().starts_with('{').then(|| serde_json::from_str(raw.get()).ok()).flatten()
}

fn missing(key: &str) -> RpcError {
    RpcError::invalid_params(format!("`params._meta[\"{key}\"]` is missing"))
}

fn malformed(key: &str, expected: &str) -> RpcError {
    RpcError::invalid_params(format!("`params._meta[\"{key}\"]` must be {expected}"))
}
