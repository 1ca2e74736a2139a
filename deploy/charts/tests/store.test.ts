import { describe, expect, test } from 'vitest';

import { charts, only, type Rendered, SHARED, type Values } from './render.ts';

const renderUsers = (values: Values = {}) => charts.render('users', { ...SHARED.users, ...values });
const podOf = (objects: readonly Rendered[]) => only(objects, 'Deployment').spec.template.spec;

describe('the store', () => {
  test('sqlite is one pod with a volume that outlives the release', () => {
    const objects = charts.render('catalog');
    const claim = only(objects, 'PersistentVolumeClaim');

    expect(claim.metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
    expect(claim.spec).not.toHaveProperty('storageClassName');
    expect(only(objects, 'Deployment').spec).toMatchObject({
      replicas: 1,
      strategy: { type: 'Recreate' },
    });
    expect(only(objects, 'ConfigMap').data.DATABASE_FILE).toBe('/data/catalog.db');
    expect(podOf(objects).securityContext.fsGroup).toBe(65_532);
    const [migrate] = podOf(objects).initContainers;
    expect(migrate.volumeMounts).toEqual([{ name: 'data', mountPath: '/data' }]);
  });

  test.each([
    [{ existingClaim: 'old' }, { persistentVolumeClaim: { claimName: 'old' } }],
    [{ ephemeral: true, size: '2Gi' }, { emptyDir: { sizeLimit: '2Gi' } }],
  ])('sqlite with %o creates no claim', (sqlite, volume) => {
    const objects = charts.render('users', { store: { sqlite } });

    expect(objects.filter(({ kind }) => kind === 'PersistentVolumeClaim')).toEqual([]);
    expect(podOf(objects).volumes).toEqual([{ name: 'data', ...volume }]);
  });

  test('fsGroup 0 leaves the group to the cluster', () => {
    const objects = charts.render('users', { store: { sqlite: { fsGroup: 0 } } });

    expect(podOf(objects).securityContext).not.toHaveProperty('fsGroup');
  });

  test('the address of postgres is in a file, not in the environment', () => {
    const objects = renderUsers();
    const pod = podOf(objects);

    expect(only(objects, 'Secret').stringData).toEqual({
      DATABASE_URL: 'postgres://u:p@db:5433/users',
    });
    for (const { env, volumeMounts } of [...pod.initContainers, ...pod.containers]) {
      expect(env).toEqual([{ name: 'DATABASE_URL_FILE', value: '/run/secrets/fw/DATABASE_URL' }]);
      expect(volumeMounts).toEqual([
        { name: 'secrets', mountPath: '/run/secrets/fw', readOnly: true },
      ]);
    }
    expect(JSON.stringify(objects.filter(({ kind }) => kind !== 'Secret'))).not.toContain('u:p@db');
  });

  test('the address may be in an existing Secret, whose name may be a template', () => {
    const objects = charts.render('users', {
      store: {
        type: 'postgres',
        postgres: { existingSecret: { name: '{{ .Release.Name }}-db', key: 'uri' } },
      },
    });

    expect(objects.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    expect(podOf(objects).volumes[0].projected.sources).toEqual([
      { secret: { name: 'fw-db', items: [{ key: 'uri', path: 'DATABASE_URL' }] } },
    ]);
  });
});
