{{- /* The environment of the service, without secrets. */}}
{{- define "service.environment" -}}
{{- $values := .Values }}
{{- $environment := dict
  "PORT" (include "service.httpPort" .)
  "HEALTH_PORT" (include "service.healthPort" .)
  "LOG_FORMAT" "json"
  "SERVICE_VERSION" (include "service.tag" .)
  "DRAIN_TIMEOUT_MS" (include "service.drainTimeoutMs" .)
}}
{{- if eq (include "service.storeType" .) "sqlite" }}
{{- $_ := set $environment "DATABASE_FILE" (printf "/data/%s.db" .Chart.Name) }}
{{- end }}
{{- with $values.jwt }}
{{- if .jwksUrl }}
{{- $_ := set $environment "JWT_JWKS_URL" .jwksUrl }}
{{- $_ := set $environment "JWT_ALGORITHM" .algorithm }}
{{- end }}
{{- $_ := set $environment "JWT_ISSUER" .issuer }}
{{- $_ := set $environment "JWT_AUDIENCE" .audience }}
{{- end }}
{{- range $name := keys ($values.upstreams | default dict) | sortAlpha }}
{{- $_ := set $environment (printf "%s_URL" (upper $name)) (include "service.upstream" (list $ $name)) }}
{{- end }}
{{- range $name, $value := $values.config }}
{{- with include "service.text" $value }}{{ $_ := set $environment $name . }}{{ end }}
{{- end }}
{{- toYaml $environment }}
{{- end }}

{{- /* The address of another service: the given one, or that of the same release. (list $ "users") */}}
{{- define "service.upstream" -}}
{{- $root := index . 0 }}
{{- $name := index . 1 }}
{{- $url := get $root.Values.upstreams $name }}
{{- if $url }}{{ tpl $url $root }}{{ else }}http://{{ include "service.nameOf" (list $root $name) }}{{ end }}
{{- end }}

{{- /* sqlite, postgres, or empty for a service without a store. */}}
{{- define "service.storeType" -}}
{{- with .Values.store }}{{ .type }}{{ end }}
{{- end }}

{{- /* A Rollout has the environment in its pods, so that rolling back restores it. */}}
{{- define "service.configMap" -}}
{{- if not .Values.progressiveDelivery.enabled }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "service.name" . }}
  labels:
    {{- include "service.labels" . | nindent 4 }}
data:
  {{- include "service.environment" . | nindent 2 }}
{{- end }}
{{- end }}
