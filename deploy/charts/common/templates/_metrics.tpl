{{- /* A Service of the health ports for Prometheus. It includes pods that are not ready. */}}
{{- define "common.monitor" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "common.name" . }}-metrics
  labels:
    {{- include "common.labels" . | nindent 4 }}
    app.kubernetes.io/component: metrics
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector:
    {{- include "common.selectorLabels" . | nindent 4 }}
  ports:
    - name: health
      port: {{ include "common.healthPort" . }}
      targetPort: health
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: {{ include "common.name" . | quote }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
    {{- with .Values.metrics.serviceMonitor.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  selector:
    matchLabels:
      app.kubernetes.io/name: {{ .Chart.Name | quote }}
      app.kubernetes.io/instance: {{ .Release.Name | quote }}
      app.kubernetes.io/component: metrics
  endpoints:
    - port: health
      path: /metrics
      interval: {{ .Values.progressiveDelivery.enabled | ternary "5s" .Values.metrics.serviceMonitor.interval }}
{{- end }}

{{- /* Requests of blackbox exporter to the service, at the address that clients use. */}}
{{- define "common.entryProbe" -}}
{{- $probe := include "common.shared" (list . "entryProbe") | fromYaml -}}
apiVersion: monitoring.coreos.com/v1
kind: Probe
metadata:
  name: {{ include "common.name" . | quote }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
    {{- with $probe.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  interval: 5s
  scrapeTimeout: 5s
  module: {{ $probe.module | quote }}
  prober:
    url: {{ $probe.exporter | quote }}
  targets:
    staticConfig:
      static: ["{{ $probe.url }}{{ tpl $probe.path . }}"]
      labels:
        namespace: {{ .Release.Namespace | quote }}
        service: {{ include "common.name" . | quote }}
{{- end }}
