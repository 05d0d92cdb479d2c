use super::{
    RpcError,
    capabilities::{Capabilities, capabilities},
    error::shortened,
    params::Field,
    scan::Scan,
};

/// A request's `_meta`, values as JSON.
#[derive(Debug, Default)]
pub(crate) struct Meta<'a> {
    pub(crate) raw: &'a str,
    pub(crate) version: Option<&'a str>,
    /// What the client can do; `Some(None)` if it says it in no way that can be read.
    pub(crate) capabilities: Option<Option<Capabilities>>,
    pub(crate) client: Option<&'a str>,
    /// Whether that has the texts that a `clientInfo` must have.
    pub(crate) is_client: bool,
    pub(crate) log_level: Option<&'a str>,
    pub(crate) progress_token: Option<&'a str>,
}

impl<'a> Meta<'a> {
    pub(super) fn read(scan: &mut Scan<'a>) -> Result<Self, RpcError> {
        scan.peek();
        let start = scan.clone();
        if !scan.open() {
            scan.skip()?;
            return Err(RpcError::invalid_params("`params._meta` must be an object"));
        }
        let (mut meta, mut first) = (Self::default(), true);
        while let Some(key) = scan.key(&mut first)? {
            let (field, value) = match &*key {
                "io.modelcontextprotocol/protocolVersion" => (&mut meta.version, scan.raw()?),
                "io.modelcontextprotocol/clientCapabilities" => {
                    if meta.capabilities.replace(capabilities(scan)?).is_some() {
                        return Err(twice(&key));
                    }
                    continue;
                }
                "io.modelcontextprotocol/clientInfo" => {
                    let client;
                    (client, meta.is_client) = client_info(scan)?;
                    (&mut meta.client, client)
                }
                "io.modelcontextprotocol/logLevel" => (&mut meta.log_level, scan.raw()?),
                "progressToken" => (&mut meta.progress_token, scan.raw()?),
                _ => {
                    scan.skip()?;
                    continue;
                }
            };
            if field.replace(value).is_some() {
                return Err(twice(&key));
            }
        }
        meta.raw = scan.since(&start);
        Ok(meta)
    }
}

fn twice(key: &str) -> RpcError {
    RpcError::invalid_params(format!("`params._meta` has `{}` twice", shortened(key)))
}

/// A `clientInfo`, and whether it is an object with the texts `name` and `version`, each once.
fn client_info<'a>(scan: &mut Scan<'a>) -> Result<(&'a str, bool), RpcError> {
    scan.peek();
    let start = scan.clone();
    if !scan.open() {
        return Ok((scan.raw()?, false));
    }
    let (mut names, mut versions, mut texts, mut first) = (0, 0, true, true);
    while let Some(key) = scan.key(&mut first)? {
        match &*key {
            "name" => names += 1,
            "version" => versions += 1,
            _ => {
                scan.skip()?;
                continue;
            }
        }
        texts &= matches!(Field::read(scan)?, Field::Given(_));
    }
    Ok((scan.since(&start), texts && (names, versions) == (1, 1)))
}
