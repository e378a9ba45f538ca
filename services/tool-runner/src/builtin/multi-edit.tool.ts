import { z } from 'zod';
import { defineTool } from '../tool/define-tool.js';
import { ToolError } from '../tool/tool-error.js';
import { applyEdit, type Edit } from './apply-edit.js';
import { editText } from './edit-text.js';

export const multiEditTool = defineTool({
  name: 'multi_edit',
  description:
    'Makes several replacements in one file of the workspace, in order, each on the result of the one before. If one does not fit, none is made.',
  input: z.object({
    path: z.string().describe('Path in the workspace'),
    edits: z
      .array(
        z.strictObject({
          oldText: z.string().min(1).describe('The text to replace, exactly as in the file at that point'),
          newText: z.string(),
          replaceAll: z.boolean().default(false),
        }),
      )
      .min(1)
      .max(100),
  }),
  async run({ path, edits }, { workspace }) {
    const file = await editText(workspace, path, (text) => edits.reduce(applyNumbered, text));
    return `Made ${edits.length} edits in ${file}.`;
  },
});

function applyNumbered(text: string, edit: Edit, index: number): string {
  try {
    return applyEdit(text, edit).text;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    throw new ToolError(error.code, `edits.${index}: ${error.message} No edit was made.`);
  }
}
