{{- define "common.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "common.name" . | quote }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
  {{- with .Values.service.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ .Values.service.type | quote }}
  {{- /*
  Argo Rollouts sets the selector of this Service: the pods of one version. In a canary without a router the chart sets
  it: the pods of both versions.
  */}}
  {{- $isDivided := include "common.isDividedByPods" . }}
  {{- if or $isDivided (not .Values.progressiveDelivery.enabled) }}
  selector:
    {{- include "common.selectorLabels" . | nindent 4 }}
    {{- if $isDivided }}
    {{- pick (include "common.podLabels" . | fromYaml) "app.kubernetes.io/part-of" | toYaml | nindent 4 }}
    {{- end }}
  {{- end }}
  ports:
    - name: http
      port: {{ .Values.service.port }}
      targetPort: http
      appProtocol: http
{{- end }}
