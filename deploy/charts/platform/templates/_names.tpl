{{- /* Labels that select the pods of one part: (list $ "edge"). */}}
{{- define "platform.selectorLabels" -}}
app.kubernetes.io/name: {{ index . 1 }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
{{- end }}

{{- /* Labels of the pods: without the chart's version, which would restart servers that stay as they are. */}}
{{- define "platform.podLabels" -}}
{{ include "platform.selectorLabels" . }}
app.kubernetes.io/part-of: fw
{{- end }}

{{- define "platform.labels" -}}
{{- $root := index . 0 -}}
{{ include "platform.podLabels" . }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "platform.image" -}}
{{- with .registry }}{{ . }}/{{ end }}{{ .repository }}:{{ .tag }}{{ with .digest }}@{{ . }}{{ end }}
{{- end }}

{{- /* What every pod of the platform's own keeps to: Pod Security "restricted", and no token. */}}
{{- define "platform.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {{- $context := dict "runAsNonRoot" true "seccompProfile" (dict "type" "RuntimeDefault") }}
  {{- toYaml (merge (deepCopy .podSecurityContext) $context) | nindent 2 }}
{{- with .image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with concat (.goneTolerations | default list) .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* How soon a pod that holds nothing leaves a node that is gone; Kubernetes would wait for five minutes. */}}
{{- define "platform.goneTolerations" -}}
{{- range list "not-ready" "unreachable" }}
- key: node.kubernetes.io/{{ . }}
  operator: Exists
  effect: NoExecute
  tolerationSeconds: 30
{{- end }}
{{- end }}

{{- define "platform.containerSecurity" -}}
image: {{ include "platform.image" .image | quote }}
imagePullPolicy: {{ .image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- with .resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* A secret to try out with: what the cluster has under (list $ "a Secret" "its key"), or a new random one. */}}
{{- define "platform.keptSecret" -}}
{{- $existing := lookup "v1" "Secret" (index . 0).Release.Namespace (index . 1) | default dict }}
{{- dig "data" (index . 2) "" $existing | b64dec | default (randAlphaNum 40) }}
{{- end }}

{{- /* The names of the services that are installed. */}}
{{- define "platform.services" -}}
{{- range list "users" "catalog" "reports" }}
{{- if get (get $.Values .) "enabled" }}
- {{ . }}
{{- end }}
{{- end }}
{{- end }}

{{- define "platform.hasService" -}}
{{- $root := index . 0 }}
{{- if has (index . 1) (include "platform.services" $root | fromYamlArray) }}yes{{ end }}
{{- end }}
