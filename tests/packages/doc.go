// Package packages tests the packages that people install.
package packages
