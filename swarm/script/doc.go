// Package script owns workflow scripts: their format, the virtual machine that
// runs them, the API they see, the strategies of `std`, and the [Host] they
// pull from.
//
// It runs no agent and reads no file, and a script knows no clock. All data
// enters a script from its host, as JSON: at once as the answer of [Host.Do],
// or in the order of [Host.Next]. The same answers in the same order give the
// same requests and the same outcome.
package script
