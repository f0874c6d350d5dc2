// Package report writes the report of a run: a single HTML page without script,
// or Markdown for the text of a pull request. It has the agents with their
// times, the classes of edits with an example, verdicts, refused patches with
// their evidence, and costs.
//
// Text of agents and patches is hostile. The page escapes all of it and makes
// characters visible that are not printed; it loads nothing and links nothing.
// The package reads no files and prints nothing: the caller gives it the state
// of the run and a writer.
package report
