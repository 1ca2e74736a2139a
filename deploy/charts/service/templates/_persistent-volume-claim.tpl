{{- define "service.claimName" -}}
{{- .Values.store.sqlite.existingClaim | default (printf "%s-data" (include "service.name" .)) }}
{{- end }}

{{- /* The volume of the SQLite file. It stays when the chart is uninstalled: only you delete data. */}}
{{- define "service.persistentVolumeClaim" -}}
{{- if eq (include "service.storeType" .) "sqlite" }}
{{- $sqlite := .Values.store.sqlite }}
{{- if not (or $sqlite.existingClaim $sqlite.ephemeral) }}
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {{ include "service.claimName" . }}
  labels:
    {{- include "service.labels" . | nindent 4 }}
  annotations:
    helm.sh/resource-policy: keep
spec:
  accessModes: [ReadWriteOnce]
  {{- with $sqlite.storageClass }}
  storageClassName: {{ . | quote }}
  {{- end }}
  resources:
    requests:
      storage: {{ $sqlite.size | quote }}
{{- end }}
{{- end }}
{{- end }}
