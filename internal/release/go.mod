module github.com/mcphub-go/mcphub/internal/release

go 1.26

require github.com/google/licensecheck v0.3.1
