{{- define "common.notes" -}}
{{- include "common.values" . }}
{{- $name := include "common.name" . }}
{{- $kubectl := printf "kubectl --namespace %s" .Release.Namespace }}
{{ include "common.serviceName" . }} is installed as {{ $name }} in the namespace {{ .Release.Namespace }}, with the image
{{ include "common.image" . }}

Addresses:

  Cluster: http://{{ $name }}.{{ .Release.Namespace }}:{{ .Values.service.port }}{{ if .Values.networkPolicy.enabled }} (pods of this namespace with the label {{ include "common.callerLabel" (list . (include "common.serviceName" .)) | trim }}){{ end }}
{{- with .Values.ingress }}
{{- if .enabled }}
{{- range .hosts }}
  Ingress: {{ $.Values.ingress.tls | empty | ternary "http" "https" }}://{{ .host }}
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.httpRoute }}
{{- if .enabled }}
  Gateway: https://{{ .hostnames | default (list "the-address-of-your-gateway") | first }} (http if its listener has no certificate)
{{- end }}
{{- end }}

Try it from this machine:

  {{ $kubectl }} {{ if .Values.progressiveDelivery.enabled }}wait rollout/{{ $name }} --for=jsonpath='{.status.phase}'=Healthy --timeout=5m{{ else }}rollout status deployment/{{ $name }}{{ end }}
  {{ $kubectl }} port-forward service/{{ $name }} 8080:{{ .Values.service.port }} &
  sleep 2
  {{- with .Files.Get "files/curl.txt" }}
  {{- tpl . $ | trim | nindent 2 }}
  {{- else }}
  curl http://localhost:8080{{ tpl (first .Values.paths) . }}
  {{- end }}
{{- if .Values.test.command }}
  helm test {{ .Release.Name }} --namespace {{ .Release.Namespace }}
{{- end }}
{{- if not (or .Values.image.registry (eq .Values.image.pullPolicy "Never") (contains "/" .Values.image.repository)) }}

* Unless the nodes have the image, they pull it from Docker Hub (ErrImagePull): set image.registry.
{{- end }}
{{- if and (not .Values.autoscaling.enabled) (eq (int .Values.replicaCount) 1) }}

* There is only one pod: upgrades, node drains and crashes cause an outage.
{{- end }}
{{- end }}
