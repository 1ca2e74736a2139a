{{- define "common.claimName" -}}
{{- .Values.store.sqlite.existingClaim | default (printf "%s-data" (include "common.name" .)) }}
{{- end }}

{{- /* The volume of the SQLite file. Helm keeps it when the chart is uninstalled, so that no data is lost. */}}
{{- define "common.persistentVolumeClaim" -}}
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {{ include "common.claimName" . | quote }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
  annotations:
    helm.sh/resource-policy: keep
spec:
  accessModes: [ReadWriteOnce]
  {{- with .Values.store.sqlite.storageClass }}
  storageClassName: {{ . | quote }}
  {{- end }}
  resources:
    requests:
      storage: {{ .Values.store.sqlite.size | quote }}
{{- end }}
