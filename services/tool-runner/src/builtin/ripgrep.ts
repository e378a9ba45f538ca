import { access, constants } from 'node:fs/promises';

/** The path of the ripgrep binary that came with the package, or undefined where the package has none for this machine. */
export async function ripgrepPath(): Promise<string | undefined> {
  try {
    const { rgPath } = await import('@vscode/ripgrep');
    await access(rgPath, constants.X_OK);
    return rgPath;
  } catch {
    // The import itself throws on a machine without the binary: the tool then searches by itself.
    return undefined;
  }
}
