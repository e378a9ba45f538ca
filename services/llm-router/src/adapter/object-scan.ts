/** Follows the text of a JSON object as it comes, each character once: whether its last brace was seen. */
export class ObjectScan {
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  private hasBegun = false;

  get isClosed(): boolean {
    return this.hasBegun && this.depth === 0;
  }

  feed(text: string): void {
    for (const character of text) {
      if (this.isEscaped) this.isEscaped = false;
      else if (this.isInString) {
        if (character === '\\') this.isEscaped = true;
        else if (character === '"') this.isInString = false;
      } else if (character === '"') this.isInString = true;
      else if (character === '{') {
        this.depth++;
        this.hasBegun = true;
      } else if (character === '}') this.depth--;
    }
  }
}
