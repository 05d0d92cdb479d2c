//! What contradicts itself, as far as it is written in plain numbers and texts.

use regex_lite::Regex;
use syn::{Expr, ExprLit, ExprUnary, Lit, UnOp};

use crate::errors::Errors;

/// A number, if it is written as one.
pub(super) fn number(expression: &Expr) -> Option<f64> {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_digits().parse().ok(),
        Expr::Lit(ExprLit { lit: Lit::Float(number), .. }) => number.base10_digits().parse().ok(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => number(expr).map(|number| -number),
        _ => None,
    }
}

/// Refuses what is not a plain count, where it is plain at all.
pub(super) fn check_count(name: &str, expression: &Expr, errors: &mut Errors) {
    let is_other = match expression {
        Expr::Lit(ExprLit { lit, .. }) => !matches!(lit, Lit::Int(_)),
        Expr::Unary(_) => true,
        _ => false,
    };
    if is_other {
        errors.at(expression, format!("`{name}` is a whole number: `{name} = 3`"));
    }
}

/// Checks a least and a greatest value, and what must be between them: the default, measured.
pub(super) fn check(
    [min_name, max_name]: [&str; 2],
    [min, max]: [Option<&Expr>; 2],
    default: Option<(&Expr, f64)>,
    errors: &mut Errors,
) {
    let least = min.and_then(number);
    let greatest = max.and_then(number);
    if let (Some(least), Some(greatest), Some(max)) = (least, greatest, max)
        && least > greatest
    {
        return errors.at(max, format!("`{max_name}` is less than `{min_name}`: no answer would do"));
    }
    let Some((default, measure)) = default else { return };
    if least.is_some_and(|least| measure < least) {
        errors.at(default, format!("the default does not keep to `{min_name}`"));
    } else if greatest.is_some_and(|greatest| measure > greatest) {
        errors.at(default, format!("the default does not keep to `{max_name}`"));
    }
}

/// Checks a pattern, and the default against it.
pub(super) fn check_pattern(pattern: &Expr, default: Option<&Expr>, errors: &mut Errors) {
    let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = pattern else {
        return errors.at(pattern, "`pattern` is a text in quotes: `pattern = \"..\"`");
    };
    let regex = match Regex::new(&text.value()) {
        Ok(regex) => regex,
        Err(error) => return errors.at(text, format!("`pattern` is not a regular expression: {error}")),
    };
    if let Some(default) = default
        && let Some(value) = text_of(default)
        && !regex.is_match(&value)
    {
        errors.at(default, "the default does not keep to `pattern`");
    }
}

/// A text, if it is written as one.
pub(super) fn text_of(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}
