// Package doctor has mcphub doctor, which tells what is wrong with a server.
//
// What must not live here: the examination (internal/doctor).
package doctor
