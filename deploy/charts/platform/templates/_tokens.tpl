{{- define "platform.tokensName" -}}{{ include "service.nameOf" (list . "tokens") }}{{- end }}
