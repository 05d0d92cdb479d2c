use super::{ElicitField, Field};

/// What a field of a derived form is: an [`ElicitField`], without its bounds, which need not be told besides.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a form",
    label = "not something that a user can fill in",
    note = "MCP forms are flat: a field is a `String`, a number of at most 64 bits, a `bool`, an enum that derives \
            `ElicitEnum`, a `Vec` of such an enum, or an `Option` of one of these",
    note = "a type of your own can be a field if it implements `ElicitField`"
)]
pub trait DerivedField: Sized {
    /// What its default is written as.
    type Default;

    /// The field of that name.
    fn field(name: &'static str) -> Field<Self>;

    /// The same, with a default.
    fn field_with_default(name: &'static str, default: Self::Default) -> Field<Self>;
}

#[diagnostic::do_not_recommend]
impl<T: ElicitField> DerivedField for T {
    type Default = T::Default;

    fn field(name: &'static str) -> Field<T> {
        Field::new(name)
    }

    fn field_with_default(name: &'static str, default: T::Default) -> Field<T> {
        Field::new(name).default(default)
    }
}
