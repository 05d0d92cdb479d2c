//! What can be said of a type by looking at it: it must be owned, and it must have a name.

use syn::{
    Lifetime, ParenthesizedGenericArguments, ReturnType, Type, TypeFnPtr, TypeImplTrait, TypeInfer, TypeNever,
    TypeReference,
    visit::{self, Visit},
};

use crate::{errors::Errors, kind::Kind, names::pretty};

/// Checks the type of a parameter.
///
/// A resolver may borrow an argument, and whatever takes a resolver's value may borrow that, in an `Option` too.
pub(crate) fn check_parameter(kind: Kind, ty: &Type, is_resolved: bool, errors: &mut Errors) {
    let mut check = Check { kind, returned: false, may_borrow: is_resolved, errors };
    match ty {
        // Where the lifetime has a name, that is what is wrong.
        Type::Reference(reference) if is_resolved || kind == Kind::Resolver => check.visit_borrowed(reference),
        Type::Reference(reference) if reference.lifetime.is_none() && is_of_a_value(&reference.elem) => {
            let (word, owned, written) = (kind.word(), pretty(&reference.elem), pretty(reference));
            check.errors.at(
                reference,
                format!(
                    "a {word} owns its arguments: fill it from a resolver with `#[resolve(function)]`, or write `{owned}` instead \
                     of `{written}`"
                ),
            );
        }
        ty => check.visit_type(ty),
    }
}

/// Whether a reference to this is one that a resolver could fill: none makes a `str`, a slice or a `Path`.
fn is_of_a_value(elem: &Type) -> bool {
    owned(elem) == pretty(elem)
}

/// Checks the return type.
pub(crate) fn check_returned(kind: Kind, output: &ReturnType, errors: &mut Errors) {
    if let ReturnType::Type(_, ty) = output {
        Check { kind, returned: true, may_borrow: false, errors }.visit_type(ty);
    }
}

struct Check<'a> {
    kind: Kind,
    returned: bool,
    may_borrow: bool,
    errors: &'a mut Errors,
}

impl Check<'_> {
    fn visit_borrowed(&mut self, reference: &TypeReference) {
        if let Some(mutability) = &reference.mutability {
            self.errors.at(mutability, "others may have it too: remove `mut`, or take the value itself");
        }
        self.visit_type(&reference.elem);
    }
}

impl<'ast> Visit<'ast> for Check<'_> {
    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        if reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static") {
            return visit::visit_type(self, &reference.elem);
        }
        if self.may_borrow && reference.lifetime.is_none() {
            return self.visit_borrowed(reference);
        }
        let (owned, word) = (owned(&reference.elem), self.kind.word());
        if self.kind == Kind::Resolver && !self.returned {
            let written = pretty(reference);
            let told = format!(
                "a resolver borrows an argument as a whole: write `{owned}` instead of `{written}`, and `&` before all of the \
                 type"
            );
            return self.errors.at(reference, told);
        }
        let verb = if self.returned { "returns an owned value" } else { "owns its parameters" };
        self.errors.at(reference, format!("a {word} {verb}: write `{owned}` instead of `{}`", pretty(reference)));
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if lifetime.ident != "static" {
            let word = self.kind.word();
            let what = if self.returned { "returns an owned value" } else { "owns its parameters" };
            self.errors.at(lifetime, format!("a {word} {what}: use a type that borrows nothing"));
        }
    }

    fn visit_type_impl_trait(&mut self, ty: &'ast TypeImplTrait) {
        let word = self.kind.word();
        let message = if self.returned {
            let why = if self.kind == Kind::Resolver {
                "it tells what parameters it fills"
            } else {
                "its schema must be known"
            };
            format!("name the type that the {word} returns: {why}")
        } else if self.kind == Kind::Resolver {
            "a resolver's parameter needs one type, not `impl Trait`: it is that of the argument".to_owned()
        } else {
            format!("a {word}'s parameter needs one type, not `impl Trait`: the argument's schema depends on it")
        };
        self.errors.at(ty, message);
    }

    fn visit_type_infer(&mut self, ty: &'ast TypeInfer) {
        self.errors.at(ty, "write the type out");
    }

    fn visit_type_never(&mut self, ty: &'ast TypeNever) {
        self.errors.at(ty, format!("a {} ends with a reply: name the type that it returns", self.kind.word()));
    }

    // Inside `fn(&T)` and `Fn(&T)` a reference borrows nothing yet.
    fn visit_type_fn_ptr(&mut self, _: &'ast TypeFnPtr) {}

    fn visit_parenthesized_generic_arguments(&mut self, _: &'ast ParenthesizedGenericArguments) {}
}

/// What to write in place of a reference to this.
fn owned(elem: &Type) -> String {
    match elem {
        Type::Path(path) if path.path.is_ident("str") => "String".into(),
        Type::Path(path) if path.path.is_ident("Path") => "PathBuf".into(),
        Type::Slice(slice) => format!("Vec<{}>", pretty(&slice.elem)),
        Type::Reference(inner) => owned(&inner.elem),
        other => pretty(other),
    }
}
