! SPDX-License-Identifier: Apache-2.0
! Markers from Fortran: compile this file with your program, and link with -lcrosstalk-mark. crosstalk_mark.h says what
! each call does.
module crosstalk_mark
    use, intrinsic :: iso_c_binding, only: c_char, c_int, c_null_char, c_null_ptr, c_ptr
    implicit none
    private
    public :: crosstalk_step, crosstalk_step_end, crosstalk_phase, crosstalk_phase_end, crosstalk_end, crosstalk_records
    public :: crosstalk_checkpoint_wanted, crosstalk_rank

    interface
        subroutine crosstalk_step() bind(c)
        end subroutine
        subroutine crosstalk_step_end() bind(c)
        end subroutine
        subroutine crosstalk_end() bind(c)
        end subroutine
        function crosstalk_records() bind(c)
            import :: c_int
            integer(c_int) :: crosstalk_records
        end function
        function crosstalk_rank() bind(c)
            import :: c_int
            integer(c_int) :: crosstalk_rank
        end function
        function crosstalk_checkpoint_wanted() bind(c)
            import :: c_int
            integer(c_int) :: crosstalk_checkpoint_wanted
        end function
        subroutine phase_of_name(name) bind(c, name="crosstalk_phase")
            import :: c_char
            character(kind=c_char), intent(in) :: name(*)
        end subroutine
    end interface

contains

    ! Begins the phase of this name.
    subroutine crosstalk_phase(name)
        character(*), intent(in) :: name
        call phase_of_name(trim(name)//c_null_char)
    end subroutine

    ! Ends the phase that was, and begins none: crosstalk_phase(NULL) of C.
    subroutine crosstalk_phase_end()
        interface
            subroutine phase_of_pointer(name) bind(c, name="crosstalk_phase")
                import :: c_ptr
                type(c_ptr), value :: name
            end subroutine
        end interface
        call phase_of_pointer(c_null_ptr)
    end subroutine
end module
