{{- /* The environment of the service, without secrets. */}}
{{- define "common.environment" -}}
{{- $values := .Values }}
{{- $environment := dict
  "PORT" (include "common.httpPort" .)
  "HEALTH_PORT" (include "common.healthPort" .)
  "LOG_FORMAT" "json"
  "SERVICE_VERSION" (include "common.tag" .)
  "DRAIN_TIMEOUT_MS" (include "common.drainTimeoutMs" .)
}}
{{- if eq (include "common.storeType" .) "sqlite" }}
{{- $_ := set $environment "DATABASE_FILE" (printf "/data/%s.db" .Chart.Name) }}
{{- end }}
{{- with $values.jwt }}
{{- if .required }}
{{- if .jwksUrl }}
{{- $_ := set $environment "JWT_JWKS_URL" .jwksUrl }}
{{- $_ := set $environment "JWT_ALGORITHM" .algorithm }}
{{- end }}
{{- $_ := set $environment "JWT_ISSUER" .issuer }}
{{- $_ := set $environment "JWT_AUDIENCE" .audience }}
{{- end }}
{{- end }}
{{- range $name := keys $values.upstreams | sortAlpha }}
{{- $_ := set $environment (printf "%s_URL" (upper $name)) (include "common.upstream" (list $ $name)) }}
{{- end }}
{{- range $name, $value := $values.config }}
{{- with include "common.text" $value }}{{ $_ := set $environment $name . }}{{ end }}
{{- end }}
{{- /* A service does not start if it does not know one of these names: a misspelled value has no silent effect. */}}
{{- $_ := set $environment "CONFIG_NAMES" (keys $environment | sortAlpha | join " ") }}
{{- toYaml $environment }}
{{- end }}

{{- /* The address of another service: the given one, or that of the same release. (list $ "users") */}}
{{- define "common.upstream" -}}
{{- $root := index . 0 }}
{{- $name := index . 1 }}
{{- $url := get $root.Values.upstreams $name }}
{{- if $url }}{{ tpl $url $root }}{{ else }}http://{{ include "common.nameOf" (list $root $name) }}{{ end }}
{{- end }}

{{- /* sqlite, postgres, or empty for a service without a store. */}}
{{- define "common.storeType" -}}{{ .Values.store.type }}{{- end }}

{{- /* Only for a Deployment. The pods of a Rollout contain the environment, so that a rollback restores it. */}}
{{- define "common.configMap" -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ include "common.name" . | quote }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
data:
  {{- include "common.environment" . | nindent 2 }}
{{- end }}
