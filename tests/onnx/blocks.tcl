# SPDX-License-Identifier: GPL-3.0-or-later
# blocks.tcl - blocks of networks for the scripts of model.tcl, node by node as PyTorch exports
# them. A block takes the name that its nodes begin with, and the tensors that it reads; it returns
# the name of its output.
namespace eval onnx {
    proc const {name x} {
        reals $name.c [list $x]
        return $name.c
    }
    # Rows of `in` channels times weights, plus a bias.
    proc linear {p x in out {bias 1}} {
        weight $p.w [list $in $out]
        node MatMul [list $x $p.w] $p.mm
        if {!$bias} {return $p.mm}
        weight $p.b $out
        return [node Add [list $p.b $p.mm] $p.add]
    }
    proc layer_norm {p x width} {
        weight $p.gamma $width
        weight $p.beta $width
        node ReduceMean $x $p.mean -axes* -1
        node Sub [list $x $p.mean] $p.sub
        node Pow [list $p.sub [const $p.two 2.0]] $p.pow
        node ReduceMean $p.pow $p.var -axes* -1
        node Add [list $p.var [const $p.eps 1e-5]] $p.eps
        node Sqrt $p.eps $p.sqrt
        node Div [list $p.sub $p.sqrt] $p.div
        node Mul [list $p.div $p.gamma] $p.mul
        return [node Add [list $p.mul $p.beta] $p.norm]
    }
    # inverse: reciprocal, divide (1 / root) or root (x / root)
    proc rms_norm {p x width {inverse divide}} {
        weight $p.gamma $width
        node Pow [list $x [const $p.two 2.0]] $p.pow
        node ReduceMean $p.pow $p.mean -axes* -1
        node Add [list $p.mean [const $p.eps 1e-6]] $p.eps
        node Sqrt $p.eps $p.sqrt
        switch $inverse {
            divide {node Div [list [const $p.one 1.0] $p.sqrt] $p.inv}
            reciprocal {node Reciprocal $p.sqrt $p.inv}
        }
        if {$inverse eq "root"} {
            node Div [list $x $p.sqrt] $p.scaled
        } else {
            node Mul [list $x $p.inv] $p.scaled
        }
        return [node Mul [list $p.gamma $p.scaled] $p.norm]
    }
    proc gelu {p x} {
        node Div [list $x [const $p.root 1.4142]] $p.div
        node Erf $p.div $p.erf
        node Add [list $p.erf [const $p.one 1.0]] $p.plus
        node Mul [list $x $p.plus] $p.times
        return [node Mul [list $p.times [const $p.half 0.5]] $p.gelu]
    }
    proc gelu_tanh {p x} {
        node Pow [list $x [const $p.three 3.0]] $p.cube
        node Mul [list $p.cube [const $p.a 0.044715]] $p.scaled
        node Add [list $x $p.scaled] $p.sum
        node Mul [list $p.sum [const $p.root 0.79788]] $p.inner
        node Tanh $p.inner $p.tanh
        node Add [list $p.tanh [const $p.one 1.0]] $p.plus
        node Mul [list $x [const $p.half 0.5]] $p.halved
        return [node Mul [list $p.halved $p.plus] $p.gelu]
    }
    proc silu {p x} {
        node Sigmoid $x $p.sigmoid
        return [node Mul [list $x $p.sigmoid] $p.silu]
    }
    # A shape of numbers, or, where dynamic, of the extents of x for those that are 0.
    proc reshape {p x extents {dynamic 0}} {
        if {!$dynamic} {
            ints $p.shape $extents
            return [node Reshape [list $x $p.shape] $p.reshaped]
        }
        node Shape $x $p.of
        set parts {}
        set i 0
        foreach n $extents {
            if {$n == 0} {
                int $p.at$i $i
                node Gather [list $p.of $p.at$i] $p.n$i -axis 0
                ints $p.zero$i 0
                lappend parts [node Unsqueeze [list $p.n$i $p.zero$i] $p.u$i]
            } else {
                ints $p.k$i $n
                lappend parts $p.k$i
            }
            incr i
        }
        node Concat $parts $p.shape -axis 0
        return [node Reshape [list $x $p.shape] $p.reshaped]
    }
    proc transpose {p x order} {node Transpose $x $p.turned -perm* $order}
    # batch x rows x channels as batch x heads x rows x width
    proc split_heads {p x heads width {dynamic 0}} {
        transpose $p [reshape $p $x [list 0 0 $heads $width] $dynamic] {0 2 1 3}
    }
    proc join_heads {p x channels {dynamic 0}} {
        set t [transpose $p.t $x {0 2 1 3}]
        reshape $p $t [list 0 0 $channels] $dynamic
    }
    # Keys and values of heads that several queries share.
    proc repeat_heads {p x batch heads times rows width} {
        ints $p.two 2
        ints $p.wide [list $batch $heads $times $rows $width]
        node Unsqueeze [list $x $p.two] $p.thin
        node Expand [list $p.thin $p.wide] $p.expanded
        reshape $p $p.expanded [list $batch [expr {$heads * $times}] $rows $width]
    }
    # x cos + rotated x sin; x ends in width channels. first: of them, those that are turned.
    proc rotary {p x cos sin width {first 0}} {
        set axis -1
        set half [expr {($first ? $first : $width) / 2}]
        foreach {name n} [list zero 0 half $half all [expr {2 * $half}] end 9223372036854775807 \
            axis -1] {ints $p.$name $n}
        set all $x
        if {$first} {
            set x [node Slice [list $all $p.zero $p.all $p.axis] $p.part]
            node Slice [list $all $p.all $p.end $p.axis] $p.rest
        }
        node Mul [list $x $cos] $p.cosine
        node Slice [list $x $p.zero $p.half $p.axis] $p.left
        node Slice [list $x $p.half $p.end $p.axis] $p.right
        node Neg $p.right $p.neg
        node Concat [list $p.neg $p.left] $p.rotated -axis -1
        node Mul [list $p.rotated $sin] $p.sine
        set out [node Add [list $p.cosine $p.sine] $p.rotary]
        if {$first} {set out [node Concat [list $out $p.rest] $p.whole -axis -1]}
        return $out
    }
    # Scores of queries and keys (both batch x heads x rows x width), then the context.
    # -scale before | after | both | none, -masks LIST, -where MASK, -nan 1
    proc attention {p q k v args} {
        array set o {-scale after -masks {} -where {} -nan 0 -dropout 0}
        array set o $args
        set t [transpose $p.k $k {0 1 3 2}]
        if {$o(-scale) in {before both}} {
            set q [node Mul [list $q [const $p.qs 0.125]] $p.scaled_q]
        }
        if {$o(-scale) eq "both"} {
            set t [node Mul [list $t [const $p.ks 0.125]] $p.scaled_k]
        }
        set s [node MatMul [list $q $t] $p.scores]
        if {$o(-scale) eq "after"} {set s [node Div [list $s [const $p.ss 8.0]] $p.scaled]}
        if {$o(-where) ne ""} {
            set s [node Where [list $o(-where) $s [const $p.minus -1e9]] $p.where]
        }
        set i 0
        foreach mask $o(-masks) {set s [node Add [list $s $mask] $p.masked[incr i]]}
        set s [node Softmax $s $p.softmax -axis -1]
        if {$o(-nan)} {
            node IsNaN $s $p.isnan
            set s [node Where [list $p.isnan [const $p.zero 0.0] $s] $p.clean]
        }
        if {$o(-dropout)} {set s [node Dropout $s $p.dropped]}
        return [node MatMul [list $s $v] $p.context]
    }
}
