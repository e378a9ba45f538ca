import { z } from 'zod';
import { defineTool } from '../tool/define-tool.js';
import { applyEdit } from './apply-edit.js';
import { editText } from './edit-text.js';

export const editFileTool = defineTool({
  name: 'edit_file',
  description:
    'Replaces a piece of text in a file of the workspace. oldText must be in the file exactly once, white space included, unless replaceAll is set.',
  input: z.object({
    path: z.string().describe('Path in the workspace'),
    oldText: z.string().min(1).describe('The text to replace, exactly as in the file'),
    newText: z.string().describe('What takes its place'),
    replaceAll: z.boolean().default(false).describe('Replace every match'),
  }),
  async run({ path, ...edit }, { workspace }) {
    let count = 0;
    const file = await editText(workspace, path, (text) => {
      const edited = applyEdit(text, edit);
      count = edited.count;
      return edited.text;
    });
    return `Replaced ${count} ${count === 1 ? 'match' : 'matches'} in ${file}.`;
  },
});
