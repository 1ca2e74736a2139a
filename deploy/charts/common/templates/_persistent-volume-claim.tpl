{{- define "common.claimName" -}}
{{- .Values.store.sqlite.existingClaim | default (printf "%s-data" (include "common.name" .)) }}
{{- end }}

{{- /* The volume of the SQLite file. It stays when the chart is uninstalled: only you delete data. */}}
{{- define "common.persistentVolumeClaim" -}}
{{- if eq (include "common.storeType" .) "sqlite" }}
{{- $sqlite := .Values.store.sqlite }}
{{- if not (or $sqlite.existingClaim $sqlite.ephemeral) }}
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {{ include "common.claimName" . }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
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
