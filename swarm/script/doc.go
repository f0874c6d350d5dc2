// Package script owns workflow scripts: what is one, the virtual machine that
// runs it, the API it sees, the strategies of `std`, and the [Host] it pulls
// from.
//
// It runs no agent and reads no file, and a script knows no clock. Whatever enters a script
// comes from its host, as JSON, either at once as the answer of [Host.Do] or in
// the order of [Host.Next]; the same answers in the same order give the same
// requests and the same outcome.
package script
