// Package packages tests the packages that users install.
package packages
