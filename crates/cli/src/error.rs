//! Errors as the user sees them: what is wrong, and what to do. Exit code 1 is the user's to mend, 2 ours.

use std::fmt;
use std::process::ExitCode;

use owo_colors::OwoColorize;

/// An error with a way out.
#[derive(Debug)]
pub(crate) struct Error {
    message: String,
    hint: Option<String>,
    code: u8,
}

impl Error {
    /// Something that the user can mend.
    pub(crate) fn user(message: impl fmt::Display, hint: impl fmt::Display) -> Self {
        Self { message: message.to_string(), hint: Some(hint.to_string()), code: 1 }
    }

    /// Something that should not have happened.
    pub(crate) fn internal(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), hint: None, code: 2 }
    }

    /// Prints it, and gives the exit code.
    pub(crate) fn report(self) -> ExitCode {
        anstream::eprintln!("{} {}", "error:".red().bold(), self.message);
        if let Some(hint) = &self.hint {
            anstream::eprintln!("{} {hint}", "hint:".cyan().bold());
        }
        ExitCode::from(self.code)
    }
}
