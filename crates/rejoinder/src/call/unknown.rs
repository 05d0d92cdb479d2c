/// What becomes of an argument that the function does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unknown {
    /// It is a mistake, named like any other.
    #[default]
    Refused,
    /// It is as if it had not been sent.
    Ignored,
}
