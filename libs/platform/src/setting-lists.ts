import { z } from 'zod';
import { addressGuard } from './address-guard.js';

/** A setting with several names, separated by commas. Default: none. */
export const nameList = z
  .string()
  .default('')
  .transform((text) => text.split(',').map((name) => name.trim()))
  .transform((names) => names.filter((name) => name !== ''));

/** A setting with folders, separated by colons. One that is empty would stand for wherever the process was started: it is refused. */
export const folderList = z
  .string('expected folders separated by ":"')
  .transform((text) => text.split(':'))
  .refine((folders) => !folders.includes(''), 'expected folders separated by ":", none of them empty');

/** A setting with addresses and ranges, separated by commas, for {@link addressGuard}: `10.1.0.0/16,127.0.0.1`. Default: none. */
export const addressList = nameList.superRefine((addresses, context) => {
  try {
    addressGuard(addresses);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
  }
});
