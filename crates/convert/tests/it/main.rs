//! Messages of model providers, both ways.

mod anthropic_gemini;
mod conversations;
mod properties;
mod provider_logs;
mod provider_rules;
