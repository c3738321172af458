// Package page tests the review page in a browser: what it shows, what keys and buttons decide, who may open it, and
// that its address outlives the owner of a vault.
package page
