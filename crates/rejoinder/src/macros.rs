/// The tools that functions marked `#[tool]` are.
///
/// ```
/// use rejoinder::prelude::*;
///
/// mod numbers {
///     use rejoinder::prelude::*;
///
///     #[tool]
///     pub fn add(a: i64, b: i64) -> i64 {
///         a + b
///     }
/// }
///
/// let names: Vec<_> = tools![numbers::add].iter().map(|tool| tool.name().to_owned()).collect();
/// assert_eq!(names, ["add"]);
/// ```
#[macro_export]
macro_rules! tools {
    ($($function:ty),* $(,)?) => {
        $crate::__private::prelude::Vec::<$crate::Tool>::from([
            $(<$function as $crate::__private::ToolFunction>::tool()),*
        ])
    };
}

/// The prompts that functions marked `#[prompt]` are.
///
/// ```
/// use rejoinder::prelude::*;
///
/// #[prompt]
/// fn review(code: String) -> String {
///     format!("Review this:\n{code}")
/// }
///
/// assert_eq!(prompts![review][0].name(), "review");
/// ```
#[macro_export]
macro_rules! prompts {
    ($($function:ty),* $(,)?) => {
        $crate::__private::prelude::Vec::<$crate::Prompt>::from([
            $(<$function as $crate::__private::PromptFunction>::prompt()),*
        ])
    };
}

/// The resources that functions marked `#[resource("..")]` are.
///
/// ```
/// use rejoinder::prelude::*;
///
/// #[resource("text://readme")]
/// fn readme() -> &'static str {
///     "Read me."
/// }
///
/// assert_eq!(resources![readme][0].uri(), "text://readme");
/// ```
#[macro_export]
macro_rules! resources {
    ($($function:ty),* $(,)?) => {
        $crate::__private::prelude::Vec::<$crate::Resource>::from([
            $(<$function as $crate::__private::ResourceFunction>::resource()),*
        ])
    };
}
