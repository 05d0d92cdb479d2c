//! The formats of a text.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use chrono::{DateTime, NaiveDate};

/// The format of a text, of an argument or of a field of a form.
///
/// Forms of MCP have the first four. An answer is checked against the others too, but the client does not see them.
///
/// ```
/// use rejoinder::form::Format;
///
/// assert!(Format::Date.fits("2024-02-29"));
/// assert!(!Format::Date.fits("2023-02-29"));
/// assert!(Format::DateTime.fits("2026-01-31T14:30:00.5+01:00"));
/// assert!(Format::Email.fits("ada@example.com"));
/// assert!(!Format::Uri.fits("example.com"));
/// assert!(Format::Uuid.fits("67e55044-10b1-426f-9247-bb680e5fe0c8"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `email`: an address, by the rule of `<input type="email">`, with letters of any script.
    Email,
    /// `uri`: a URI with a scheme.
    Uri,
    /// `date`: a calendar date, `2026-01-31`.
    Date,
    /// `date-time`: RFC 3339, `2026-01-31T14:30:00Z`.
    DateTime,
    /// `uuid`: with hyphens, `67e55044-10b1-426f-9247-bb680e5fe0c8`.
    Uuid,
    /// `ip`: an IPv4 or IPv6 address.
    Ip,
    /// `ipv4`: an IPv4 address, `192.0.2.1`.
    Ipv4,
    /// `ipv6`: an IPv6 address, `2001:db8::1`.
    Ipv6,
}

/// A format, its name in JSON Schema, what a text must be, and whether a text is that.
type FormatRow = (Format, &'static str, &'static str, fn(&str) -> bool);

impl Format {
    /// In the order of the variants.
    const ALL: [FormatRow; 8] = [
        (Self::Email, "email", "an email address", is_email),
        (Self::Uri, "uri", "a URL such as `https://example.com`", is_uri),
        (Self::Date, "date", "a date such as `2026-01-31`", is_date),
        (Self::DateTime, "date-time", "a date and time such as `2026-01-31T14:30:00Z`", is_date_time),
        (Self::Uuid, "uuid", "a UUID such as `67e55044-10b1-426f-9247-bb680e5fe0c8`", is_uuid),
        (Self::Ip, "ip", "an IP address such as `192.0.2.1` or `2001:db8::1`", |text| text.parse::<IpAddr>().is_ok()),
        (Self::Ipv4, "ipv4", "an IPv4 address such as `192.0.2.1`", |text| text.parse::<Ipv4Addr>().is_ok()),
        (Self::Ipv6, "ipv6", "an IPv6 address such as `2001:db8::1`", |text| text.parse::<Ipv6Addr>().is_ok()),
    ];

    /// The format of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, other, ..)| *other == name).map(|(format, ..)| *format)
    }

    /// Those that forms of MCP have.
    pub(crate) const SHOWN: [Self; 4] = [Self::Email, Self::Uri, Self::Date, Self::DateTime];

    /// The name in JSON Schema.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    pub(crate) fn expected(self) -> &'static str {
        Self::ALL[self as usize].2
    }

    /// Whether the text has this format.
    pub fn fits(self, text: &str) -> bool {
        (Self::ALL[self as usize].3)(text)
    }
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else { return false };
    let local_fits = |c: char| c.is_alphanumeric() || ".!#$%&'*+/=?^_`{|}~-".contains(c);
    let label_fits = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
    };
    !local.is_empty() && local.chars().all(local_fits) && domain.split('.').all(label_fits)
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let scheme_fits = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(scheme_fits)
        && !rest.trim_start_matches('/').is_empty()
        && !rest.chars().any(|c| c.is_whitespace() || c.is_control() || "<>\"".contains(c))
}

fn is_date(text: &str) -> bool {
    // Without the length, a month of one digit would do, and with the sign a year of more.
    text.len() == 10 && text.starts_with(|c: char| c.is_ascii_digit()) && text.parse::<NaiveDate>().is_ok()
}

fn is_date_time(text: &str) -> bool {
    // RFC 3339 has `T`; a space is only for people.
    !text.contains(' ') && DateTime::parse_from_rfc3339(text).is_ok()
}

fn is_uuid(text: &str) -> bool {
    let fits =
        |(at, byte): (usize, u8)| if matches!(at, 8 | 13 | 18 | 23) { byte == b'-' } else { byte.is_ascii_hexdigit() };
    text.len() == 36 && text.bytes().enumerate().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: Format, fitting: &[&str], others: &[&str]) {
        for text in fitting {
            assert!(format.fits(text), "{text} is {}", format.expected());
        }
        for text in others {
            assert!(!format.fits(text), "{text} is not {}", format.expected());
        }
    }

    #[test]
    fn each_format_is_at_its_place() {
        for (index, (format, name, ..)) in Format::ALL.into_iter().enumerate() {
            assert_eq!((format as usize, Format::named(name)), (index, Some(format)));
        }
    }

    #[test]
    fn email() {
        let fitting = ["a@b.c", "ada.lovelace+x@example.co.uk", "root@localhost", "jörg@müller.de"];
        let others = ["", "a", "@b.c", "a@", "a@b@c.d", "a b@c.d", "a@b..c", "a@-b.c", "a@b-.c", "<a@b.c>", "a@b.c\n"];
        check(Format::Email, &fitting, &others);
    }

    #[test]
    fn uuid() {
        let fitting = ["67e55044-10b1-426f-9247-bb680e5fe0c8", "67E55044-10B1-426F-9247-BB680E5FE0C8"];
        let others =
            ["", "67e5504410b1426f9247bb680e5fe0c8", "67e55044-10b1-426f-9247-bb680e5fe0cg", "-".repeat(36).leak()];
        check(Format::Uuid, &fitting, &others);
    }

    #[test]
    fn addresses() {
        check(Format::Ip, &["192.0.2.1", "2001:db8::1"], &["", "192.0.2", "localhost"]);
        check(Format::Ipv4, &["192.0.2.1"], &["2001:db8::1", "192.0.2.256"]);
        check(Format::Ipv6, &["::1"], &["192.0.2.1", "[::1]"]);
    }

    #[test]
    fn uri() {
        let fitting = ["https://example.com", "mailto:a@b.c", "urn:isbn:0451450523", "file:///etc/hosts", "x+y-z.1:a"];
        let others = ["", "example.com", "//example.com", "https:", "https://", "1a:b", ":a", "a b:c", "https://a b"];
        check(Format::Uri, &fitting, &others);
    }

    #[test]
    fn date() {
        let fitting = ["2026-01-31", "2024-02-29", "2000-02-29", "0000-02-29", "9999-12-31"];
        let others = [
            "",
            "2026-1-31",
            "2026-00-10",
            "2026-13-01",
            "2026-04-31",
            "2023-02-29",
            "1900-02-29",
            "2026-01-00",
            "20260131",
            "2026-01-31T00:00:00Z",
            "+026-01-31",
            "2026-01-31-",
            "２026-01-31",
        ];
        check(Format::Date, &fitting, &others);
    }

    #[test]
    fn date_time() {
        let fitting = [
            "2026-01-31T14:30:00Z",
            "2026-01-31t14:30:00z",
            "2026-01-31T14:30:00.123456789Z",
            "2026-01-31T14:30:00+01:00",
            "2026-01-31T14:30:00-23:59",
            "2016-12-31T23:59:60Z",
        ];
        let others = [
            "",
            "2026-01-31",
            "2026-01-31T14:30:00",
            "2026-01-31 14:30:00Z",
            "2026-01-31T24:00:00Z",
            "2026-01-31T14:60:00Z",
            "2026-01-31T14:30:61Z",
            "2026-01-31T14:30Z",
            "2026-01-31T14:30:00.Z",
            "2026-01-31T14:30:00+1:00",
            "2026-01-31T14:30:00+24:00",
            "2026-01-31T14:30:00ZZ",
            "2026-02-30T14:30:00Z",
            "2026-01-31T14:30:00+01:00:00",
        ];
        check(Format::DateTime, &fitting, &others);
    }
}
