/// The tools that functions marked `#[tool]` are: `tools![add, files::delete]`.
#[macro_export]
macro_rules! tools {
    ($($function:ty),* $(,)?) => {
        $crate::__private::Vec::<$crate::Tool>::from([
            $(<$function as $crate::__private::ToolFunction>::tool()),*
        ])
    };
}

/// The prompts that functions marked `#[prompt]` are: `prompts![review, drafts::letter]`.
#[macro_export]
macro_rules! prompts {
    ($($function:ty),* $(,)?) => {
        $crate::__private::Vec::<$crate::Prompt>::from([
            $(<$function as $crate::__private::PromptFunction>::prompt()),*
        ])
    };
}

/// The resources that functions marked `#[resource("..")]` are: `resources![readme, files::file]`.
#[macro_export]
macro_rules! resources {
    ($($function:ty),* $(,)?) => {
        $crate::__private::Vec::<$crate::Resource>::from([
            $(<$function as $crate::__private::ResourceFunction>::resource()),*
        ])
    };
}
