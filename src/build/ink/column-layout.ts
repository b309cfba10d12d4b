/**
 * In place of Yoga in the bundle: nodes below one another, as wide as the terminal, each as high as its text.
 * The screen is one text and the spoken screen a column of texts, so this is all the layout they need.
 */
type Measure = (width: number) => { readonly width: number; readonly height: number };

const nothing = (): void => {};
const zero = (): number => 0;

class ColumnNode {
  readonly #children: ColumnNode[] = [];
  #measure: Measure | null = null;
  #width = 0;
  #height = 0;
  #top = 0;

  setMeasureFunc(measure: Measure): void {
    this.#measure = measure;
  }

  insertChild(child: ColumnNode, index: number): void {
    this.#children.splice(index, 0, child);
  }

  removeChild(child: ColumnNode): void {
    const at = this.#children.indexOf(child);
    if (at >= 0) this.#children.splice(at, 1);
  }

  getChildCount(): number {
    return this.#children.length;
  }

  setWidth(width: number): void {
    this.#width = width;
  }

  calculateLayout(): void {
    this.#place(this.#width, 0);
  }

  #place(width: number, top: number): void {
    this.#width = width;
    this.#top = top;
    if (this.#measure) {
      this.#height = this.#measure(width).height;
      return;
    }
    this.#height = 0;
    for (const child of this.#children) {
      child.#place(width, this.#height);
      this.#height += child.#height;
    }
  }

  getComputedLeft = zero;
  getComputedBorder = zero;
  getComputedPadding = zero;
  getDisplay = zero;

  getComputedTop(): number {
    return this.#top;
  }

  getComputedWidth(): number {
    return this.#width;
  }

  getComputedHeight(): number {
    return this.#height;
  }
}

/** Everything a style may set, to no effect. */
const SETTERS = [
  'AlignItems',
  'AlignSelf',
  'Border',
  'Display',
  'FlexBasis',
  'FlexBasisAuto',
  'FlexBasisPercent',
  'FlexDirection',
  'FlexGrow',
  'FlexShrink',
  'FlexWrap',
  'Gap',
  'Height',
  'HeightAuto',
  'HeightPercent',
  'JustifyContent',
  'Margin',
  'MinHeight',
  'MinHeightPercent',
  'MinWidth',
  'MinWidthPercent',
  'Padding',
  'PositionType',
  'WidthAuto',
  'WidthPercent',
] as const;

for (const name of SETTERS) Object.defineProperty(ColumnNode.prototype, `set${name}`, { value: nothing });
for (const name of ['free', 'freeRecursive', 'unsetMeasureFunc', 'markDirty'])
  Object.defineProperty(ColumnNode.prototype, name, { value: nothing });

/** `DISPLAY_NONE` must differ from what `getDisplay` answers; the other constants only ever reach a setter. */
export default { Node: { create: (): ColumnNode => new ColumnNode() }, DISPLAY_NONE: 1, DISPLAY_FLEX: 0 };
