{{- /* Checks of variables that users, catalog and reports have in common. */}}
{{- define "service.checkTimeLimit" -}}
{{- $limitMs := tpl (toString .Values.config.REQUEST_TIMEOUT_MS) . }}
{{- if ne $limitMs (mul .Values.requestTimeoutSeconds 1000 | toString) }}
{{- fail (printf "\n%s: config.REQUEST_TIMEOUT_MS is %s, but requestTimeoutSeconds, from which the grace period is computed, is %v: expected only requestTimeoutSeconds" .Chart.Name $limitMs .Values.requestTimeoutSeconds) }}
{{- end }}
{{- end }}

{{- define "service.checkTokens" -}}
{{- with .Values }}
{{- $keys := .config.JWT_JWKS_URL }}
{{- if eq (empty $keys) (empty (or .secrets.JWT_SECRET.existingSecret .secrets.JWT_SECRET.value)) }}
{{- fail (printf "\n%s: tokens are required: expected either secrets.JWT_SECRET or config.JWT_JWKS_URL, which verify them" $.Chart.Name) }}
{{- else if and $keys (not .config.JWT_ISSUER) }}
{{- fail (printf "\n%s: config.JWT_JWKS_URL is set, but config.JWT_ISSUER is empty: expected the issuer of the tokens" $.Chart.Name) }}
{{- else if and $keys .networkPolicy.enabled (not .networkPolicy.egress.jwks) }}
{{- fail (printf "\n%s: config.JWT_JWKS_URL is set, but the NetworkPolicy would block it: expected peers and ports in networkPolicy.egress.jwks" $.Chart.Name) }}
{{- end }}
{{- end }}
{{- end }}
