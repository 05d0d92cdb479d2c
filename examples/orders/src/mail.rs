//! Mail to customers.

use rejoinder::BoxFuture;

/// What sends mail. A test puts its own in its place.
pub trait Mailer: Send + Sync {
    /// Sends a mail.
    fn send<'a>(&'a self, to: &'a str, text: &'a str) -> BoxFuture<'a, Result<(), std::io::Error>>;
}

/// Writes mail to standard error.
#[derive(Debug)]
pub struct StandardError;

impl Mailer for StandardError {
    fn send<'a>(&'a self, to: &'a str, text: &'a str) -> BoxFuture<'a, Result<(), std::io::Error>> {
        Box::pin(async move {
            eprintln!("mail to {to}: {text}");
            Ok(())
        })
    }
}
