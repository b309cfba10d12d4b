import { plural } from '../../model/format.ts';
import type { InstalledHooks } from '../../model/health.ts';
import { fail, type HealthCheck, ok, warn } from './check.ts';

const AGAIN =
  'bring them up to date: reaptop hook install (with --project or --shared for a project’s settings)';

const described = ({ path, events, missing }: InstalledHooks): string =>
  `${plural(events, 'hook')} in ${path}${missing.length === 0 ? '' : ` (not ${missing.join(', ')})`}`;

/** Installed, and start this very program as it would be installed now. */
export const hooks: HealthCheck = ({ hooks: places }) => {
  const unreadable = places.find(place => place.unreadable !== null);
  if (unreadable !== undefined)
    return warn(
      `${unreadable.path} cannot be read: ${unreadable.unreadable}`,
      'mend it: Claude Code reads it, too',
    );
  const broken = places.find(place => place.broken !== null);
  if (broken !== undefined)
    return fail(`the hooks in ${broken.path} start ${broken.broken}, which is not there`, AGAIN);
  const old = places.find(place => !place.current);
  if (old !== undefined)
    return warn(`the hooks in ${old.path} are not as this reaptop would install them`, AGAIN);
  return ok(
    places.length === 0
      ? 'no hooks are installed (reaptop hook install)'
      : `${places.map(described).join(', ')}: current`,
  );
};
