// Package save tests how programs and people save: each way of saving, beside a plain folder on which it is done too, and
// people who save the same notes in the vault.
package save
