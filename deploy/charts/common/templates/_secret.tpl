{{- /*
The secrets of the service by the name of their variable: the value, or the existing Secret that contains it. The
service reads secrets from files, so that its environment contains none.
*/}}
{{- define "common.secrets" -}}
{{- $secrets := dict }}
{{- if eq (include "common.storeType" .) "postgres" }}
{{- $_ := set $secrets "DATABASE_URL" (dict "value" .Values.store.postgres.url "existing" .Values.store.postgres.existingSecret) }}
{{- end }}
{{- with .Values.rateLimit }}
{{- if eq .store "redis" }}
{{- $_ := set $secrets "REDIS_URL" (dict "value" .redis.url "existing" .redis.existingSecret) }}
{{- end }}
{{- end }}
{{- with .Values.jwt }}
{{- if and .required (not .jwksUrl) }}
{{- $_ := set $secrets "JWT_SECRET" (dict "value" .secret "existing" .existingSecret) }}
{{- end }}
{{- end }}
{{- toYaml $secrets }}
{{- end }}

{{- /* The secrets that are given as values: the chart stores them in its own Secret. */}}
{{- define "common.ownSecrets" -}}
{{- $own := dict }}
{{- range $name, $secret := include "common.secrets" . | fromYaml }}
{{- with $secret.value }}{{ $_ := set $own $name . }}{{ end }}
{{- end }}
{{- toYaml $own }}
{{- end }}

{{- define "common.secret" -}}
apiVersion: v1
kind: Secret
metadata:
  name: {{ include "common.name" . | quote }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
type: Opaque
stringData:
  {{- include "common.ownSecrets" . | nindent 2 }}
{{- end }}

{{- /* The certificates of the service by the name of their file: the Secret that contains them. */}}
{{- define "common.certificates" -}}
{{- $certificates := dict }}
{{- if eq (include "common.storeType" .) "postgres" }}
{{- with .Values.store.postgres.caSecret }}
{{- if .name }}{{ $_ := set $certificates "postgres-ca.crt" (dict "name" .name "key" (.key | default "ca.crt")) }}{{ end }}
{{- end }}
{{- end }}
{{- toYaml $certificates }}
{{- end }}

{{- /* The folder in which a pod reads its secrets and certificates, one file each. */}}
{{- define "common.secretsFolder" -}}/run/secrets/fw{{- end }}

{{- /* The variables with the paths of these files: (dict "root" $ "secrets" …). */}}
{{- define "common.secretFiles" -}}
{{- range $name := keys .secrets | sortAlpha }}
- name: {{ $name }}_FILE
  value: {{ include "common.secretsFolder" $ }}/{{ $name }}
{{- end }}
{{- end }}

{{- /* The volume with these files, from the chart's own and existing Secrets: (dict "root" $ "secrets" …). */}}
{{- define "common.secretsVolume" -}}
- name: secrets
  projected:
    sources:
      {{- range $name, $secret := .secrets }}
      - secret:
          {{- if $secret.value }}
          name: {{ include "common.name" $.root | quote }}
          items:
            - { key: {{ $name }}, path: {{ $name }} }
          {{- else }}
          name: {{ tpl $secret.existing.name $.root | quote }}
          items:
            - { key: {{ $secret.existing.key | quote }}, path: {{ $name }} }
          {{- end }}
      {{- end }}
      {{- range $name, $existing := include "common.certificates" .root | fromYaml }}
      - secret:
          name: {{ tpl $existing.name $.root | quote }}
          items:
            - { key: {{ $existing.key | quote }}, path: {{ $name }} }
      {{- end }}
{{- end }}

{{- define "common.secretsMount" -}}
- name: secrets
  mountPath: {{ include "common.secretsFolder" . }}
  readOnly: true
{{- end }}

{{- /*
A checksum that changes with every secret. It replaces the pods, which read secrets only at their start. The contents
of existing Secrets come from the cluster. Secrets that this release generates are left out: they never change, and do
not exist yet at the first installation.
*/}}
{{- define "common.secretsChecksum" -}}
{{- $seen := dict "own" (include "common.ownSecrets" .) }}
{{- $others := include "common.certificates" . | fromYaml }}
{{- range $name, $secret := include "common.secrets" . | fromYaml }}
{{- if not $secret.value }}{{ $_ := set $others $name $secret.existing }}{{ end }}
{{- end }}
{{- range $name, $reference := $others }}
{{- $existing := lookup "v1" "Secret" $.Release.Namespace (tpl $reference.name $) | default dict }}
{{- $annotations := dig "metadata" "annotations" dict $existing | default dict }}
{{- if and $existing (ne (get $annotations "meta.helm.sh/release-name") $.Release.Name) }}
{{- $_ := set $seen $name (dig "data" $reference.key "" $existing) }}
{{- end }}
{{- end }}
{{- toYaml $seen | sha256sum }}
{{- end }}
