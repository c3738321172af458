// Package page tests the review page in a browser: its content, its keys and buttons, access control, and an address
// that stays valid when the owner of a vault changes.
package page
